package compress

import (
	"slices"
	"sync"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// chunk is a part of the decoded bytes of a piece.
type chunk struct {
	data []byte // a buffer of the queue
	read int64  // bytes of the file that were read when it was done
	used int64  // and of those used up
	err  error  // what follows instead of another chunk
}

// queue holds decoded bytes of pieces until their turn comes, in a bounded number of buffers. The last
// buffers are for the piece being read, so it always goes on. The piece with the next turn may take all
// others; those behind it get fewer with their distance, down to two thirds. If pieces are larger than
// the buffers, a piece ready at its turn is worth more than the beginnings of many.
type queue struct {
	mu      sync.Mutex
	moved   sync.Cond // an awaited change may have come
	mem     []byte
	free    [][]byte
	buffers int
	ahead   int      // pieces that are decoded at once
	turn    int64    // the piece being read
	pieces  []*Piece // all that are not done with, in their order
	closed  bool
}

// forTurn is the number of buffers kept for the piece being read: one is filled while the other is
// emptied.
const forTurn = 2

func newQueue(buffers, size, ahead int) *queue {
	mem, err := hugemem.Alloc(buffers * size)
	if err != nil { // address space is short: then from the heap
		mem = make([]byte, buffers*size)
	}
	q := &queue{mem: mem, buffers: buffers, ahead: ahead, turn: -1}
	q.moved.L = &q.mu
	for i := buffers - 1; i >= 0; i-- { // the last is taken first, and again: of the others nothing is touched
		q.free = append(q.free, mem[i*size:(i+1)*size:(i+1)*size])
	}
	return q
}

// add has a piece follow all others.
func (q *queue) add(p *Piece) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pieces = append(q.pieces, p)
}

// await waits until something is so, and reports whether the piece is still needed.
func (q *queue) await(p *Piece, so func() bool) bool {
	for !q.gone(p) && !so() {
		q.moved.Wait()
	}
	return !q.gone(p)
}

// take waits for a buffer. It returns nil if the piece is not needed any more.
func (q *queue) take(p *Piece) (buf []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.await(p, func() bool { return len(q.free) > q.left(p) }) {
		return nil
	}
	last := len(q.free) - 1
	buf, q.free = q.free[last], q.free[:last]
	return buf
}

// left returns the number of buffers that a piece leaves to those between it and the one being read, and
// to that one.
func (q *queue) left(p *Piece) int {
	if p.number == q.turn {
		return 0
	}
	between := 0
	for _, other := range q.pieces {
		if q.turn < other.number && other.number < p.number && !other.ended {
			between++
		}
	}
	return forTurn + between*q.buffers/(3*q.ahead)
}

// gone reports whether the piece is not needed any more.
func (q *queue) gone(p *Piece) bool { return q.closed || p.dropped }

// put hands on decoded bytes. It reports whether more are wanted.
func (q *queue) put(p *Piece, c chunk) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone(p) {
		q.back(c.data)
		return false
	}
	p.done = append(p.done, c)
	p.ended = c.err != nil
	q.moved.Broadcast()
	return true
}

// get waits for the next chunk of a piece, whose turn comes with it. It returns an error if the queue is
// closed.
func (q *queue) get(p *Piece) chunk {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn != p.number {
		q.turn = p.number
		q.moved.Broadcast()
		if p.missed {
			q.dropAfter(p)
		}
	}
	if !q.await(p, func() bool { return len(p.done) > 0 }) {
		return chunk{err: errClosed}
	}
	c := p.done[0]
	p.done = slices.Delete(p.done, 0, 1)
	return c
}

// give has a buffer used again.
func (q *queue) give(buf []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.back(buf)
}

func (q *queue) back(buf []byte) {
	if buf != nil {
		q.free = append(q.free, buf[:cap(buf)])
		q.moved.Broadcast()
	}
}

// awaitTurn waits until a piece is being read, and reports whether it is needed.
func (q *queue) awaitTurn(p *Piece) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.await(p, func() bool { return q.turn == p.number })
}

// miss notes that no member begins at the intended end of the piece. So the piece goes on to the end of
// the input, and the pieces behind it are worthless. If the piece itself began at no member, the note
// means nothing, so it takes effect at the turn of the piece.
func (q *queue) miss(p *Piece) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p.missed = true
	if q.turn == p.number {
		q.dropAfter(p)
	}
}

// dropAfter drops the pieces of an input behind one of them.
func (q *queue) dropAfter(p *Piece) {
	p.In.over.Store(true)
	for _, other := range q.pieces {
		if other.In == p.In && other.number > p.number {
			q.discard(other)
		}
	}
}

// drop ends the use of a piece, read or not.
func (q *queue) drop(p *Piece) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.discard(p)
	q.pieces = slices.DeleteFunc(q.pieces, func(other *Piece) bool { return other == p })
}

func (q *queue) discard(p *Piece) {
	p.dropped = true
	for _, c := range p.done {
		q.back(c.data)
	}
	p.done = nil
	q.moved.Broadcast()
}

// close has all who wait go on. Nothing is needed any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.moved.Broadcast()
}

// release gives the memory back after its last use.
func (q *queue) release() {
	_ = hugemem.Free(q.mem) // it refuses memory of the heap
	q.mem, q.free = nil, nil
}
