package compress

import (
	"slices"
	"sync"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// chunk is a part of what a piece is decoded to.
type chunk struct {
	data []byte // a buffer of the queue
	read int64  // bytes of the file that were read when it was done
	used int64  // and of those used up
	err  error  // what follows instead of another chunk
}

// queue holds what pieces are decoded to until their turn comes, in a bounded number of
// buffers. The last of them are for the piece that is being read: so it always goes on.
// The piece whose turn comes next may take all others, those behind it the fewer the
// longer their turn will take, down to two thirds: where pieces are larger than the buffers, a
// piece that is ready when its turn comes is worth more than the beginnings of many.
type queue struct {
	mu      sync.Mutex
	moved   sync.Cond // something that is waited for may have come
	mem     []byte
	free    [][]byte
	buffers int
	ahead   int      // pieces that are decoded at once
	turn    int64    // the piece that is being read
	wanting []int64  // pieces that wait for a buffer
	pieces  []*Piece // all that are not done with, in their order
	closed  bool
}

// forTurn is how many buffers are kept for the piece that is being read: one that is
// filled while the other is emptied.
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

// take waits for a buffer. It returns nil where nobody needs the piece any more.
func (q *queue) take(p *Piece) (buf []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanting = append(q.wanting, p.number)
	for !q.gone(p) && !q.may(p) {
		q.moved.Wait()
	}
	q.wanting = slices.DeleteFunc(q.wanting, func(n int64) bool { return n == p.number })
	if !q.gone(p) {
		last := len(q.free) - 1
		buf, q.free = q.free[last], q.free[:last]
	}
	if len(q.wanting) > 0 { // another may be the first now
		q.moved.Broadcast()
	}
	return buf
}

// may reports whether a piece gets a buffer now.
func (q *queue) may(p *Piece) bool {
	if p.number == q.turn {
		return len(q.free) > 0
	}
	return len(q.free) > forTurn+q.nearer(p) && slices.Min(q.wanting) == p.number
}

// nearer is how many buffers are left to pieces between the one that is being read and
// another.
func (q *queue) nearer(p *Piece) int {
	between := 0
	for _, other := range q.pieces {
		if q.turn < other.number && other.number < p.number && !other.ended {
			between++
		}
	}
	return between * q.buffers / (3 * q.ahead)
}

// gone reports whether nobody needs the piece any more.
func (q *queue) gone(p *Piece) bool { return q.closed || p.dropped }

// put hands on what is decoded. It reports whether more is wanted.
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

// get waits for the next chunk of a piece, whose turn has come with it. It returns an
// error where the queue is closed.
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
	for !q.closed && len(p.done) == 0 {
		q.moved.Wait()
	}
	if q.closed {
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
	for !q.gone(p) && q.turn != p.number {
		q.moved.Wait()
	}
	return !q.gone(p)
}

// miss is told that nothing begins where the piece was to end, so that it goes on to the
// end of the input, and what follows in this is worth nothing. Of a piece that was begun
// where nothing begins either it says nothing: so only its turn makes it true.
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

// drop is told that a piece is done with, read or not.
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

// release gives the memory back, when nobody uses it any more.
func (q *queue) release() {
	_ = hugemem.Free(q.mem) // it refuses what is of the heap
	q.mem, q.free = nil, nil
}
