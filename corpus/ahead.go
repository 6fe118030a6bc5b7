package corpus

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// ahead decodes compressed files before they are read, in several goroutines, and hands
// out what they are decoded to in the order of the inputs, with the errors that reading
// them one after the other meets, behind the same bytes.
//
// What one goroutine decodes is a piece of a file: the whole of it or, where it has
// several gzip members or zstd frames, some of them. A piece ends where a member or
// frame begins that the next piece was begun with. That place is found by the bytes with
// which they begin, and these may stand anywhere: so a piece is believed only when the
// one before it has come to its very beginning, and what cannot be reached so is dropped.
//
// Memory is bounded by its sizes. Pipes, standard input and files that are not compressed
// are left to whoever reads them.
type ahead struct {
	inputs []Input
	sizes  aheadSizes
	limits decoders // what all decoders keep to

	queue  *queue
	order  chan *piece // in the order in which they are read
	idle   chan *aheadDecoders
	large  *decoders // for what takes much memory: of the piece that is being read
	stop   context.CancelFunc
	active sync.WaitGroup
	number int64  // of pieces, so far
	taken  *piece // that is being read
	looked []byte // where pieces are looked for
}

// aheadSizes say how much is decoded ahead.
type aheadSizes struct {
	decoders int // goroutines that decode
	chunk    int // bytes of a buffer
	buffers  int
	window   int64 // largest window of a zstd frame that is decoded before its turn
	piece    int64 // stored bytes that a piece has at least, unless the input ends
	look     int64 // and behind them, in which the beginning of the next is looked for
}

// maxDecoders is how many goroutines decode at most. More are not needed: this is some
// 2 GB/s of gzip, and each takes its share of the memory.
const maxDecoders = 8

// DefaultAheadMemory is what decoding ahead takes at most, unless a SourceConfig says
// otherwise, in bytes.
const DefaultAheadMemory = 48 << 20

// sizesFor divides memory: half of it are buffers, the other the windows of decoders.
func sizesFor(n int, memory int64) aheadSizes {
	n = min(n, maxDecoders)
	const size = 128 << 10
	return aheadSizes{
		decoders: n, chunk: size, buffers: max(int(memory/2/size), 2*forTurn),
		window: memory / 2 / int64(max(n, 1)), piece: 512 << 10, look: 16 << 20,
	}
}

// aheadInput is a file of which pieces are decoded.
type aheadInput struct {
	index int
	file  *File  // nil: not opened
	kind  string // of compression; "": left to whoever reads it
	over  atomic.Bool
}

// piece is what one goroutine decodes.
type piece struct {
	in     *aheadInput
	number int64 // of all pieces, in their order
	start  int64 // where it begins in the file
	end    int64 // where the next one does; -1: it goes to the end of the file

	// Of the queue:
	done    []chunk
	ended   bool // all of it is decoded
	dropped bool // nobody needs it
	missed  bool // nothing begins at its end
}

// aheadDecoders are what a goroutine decodes with.
type aheadDecoders struct {
	decoders
	buf *bufio.Reader
}

// errClosed is returned by who is closed while it is read.
var errClosed = fmt.Errorf("reading ahead: %w", os.ErrClosed)

// startAhead begins to decode the inputs from the one with the index first on.
func startAhead(inputs []Input, first int, limits decoders, sizes aheadSizes) *ahead {
	ctx, stop := context.WithCancel(context.Background())
	a := &ahead{
		inputs: inputs, sizes: sizes, limits: decoders{maxWindow: limits.maxWindow, maxRatio: limits.maxRatio},
		queue: newQueue(sizes.buffers, sizes.chunk, sizes.decoders),
		order: make(chan *piece, 2*sizes.decoders),
		idle:  make(chan *aheadDecoders, sizes.decoders),
		stop:  stop,
	}
	a.large = &decoders{maxWindow: limits.maxWindow}
	for range sizes.decoders {
		d := new(aheadDecoders)
		d.maxWindow = min(sizes.window, limits.maxWindow)
		a.idle <- d
	}
	a.active.Add(1)
	go a.plan(ctx, first)
	return a
}

// close ends all goroutines and gives the memory back.
func (a *ahead) close() {
	a.stop()
	a.queue.close()
	for p := range a.order {
		p.in.close()
	}
	a.active.Wait()
	for range a.sizes.decoders {
		(<-a.idle).close()
	}
	a.large.close()
	a.queue.release()
}

func (in *aheadInput) close() {
	if in.file != nil {
		_ = in.file.Close() // only read; it may be closed already
	}
}

// plan finds the pieces of the inputs, one after the other, and has them decoded.
func (a *ahead) plan(ctx context.Context, first int) {
	defer a.active.Done()
	defer close(a.order)
	for i := first; i < len(a.inputs) && ctx.Err() == nil; i++ {
		in := look(i, a.inputs[i])
		for start := int64(0); start >= 0 && !in.over.Load(); {
			end := int64(-1)
			if in.kind != "" {
				end = a.nextPiece(in, start)
			}
			p := &piece{in: in, number: a.number, start: start, end: end}
			a.number++
			if !a.begin(ctx, p) {
				in.close()
				return
			}
			start = end
		}
	}
}

// look opens an input if it is a file, and finds out whether it is compressed. Whatever
// is wrong with it is left to whoever reads it.
func look(index int, input Input) *aheadInput {
	in := &aheadInput{index: index}
	if input.Path == Stdin || input.Size < 0 {
		return in
	}
	// Opening what has become a pipe would wait for its writer.
	if info, err := os.Stat(input.File()); err != nil || !info.Mode().IsRegular() {
		return in
	}
	f, err := input.Open()
	if err != nil {
		return in
	}
	in.file = f
	if f.At != nil {
		var head [headSize]byte
		n, _ := f.At.ReadAt(head[:], 0)
		in.kind = compressionOf(head[:n])
	}
	return in
}

// nextPiece is where the piece after the one that begins at start may begin, or -1.
func (a *ahead) nextPiece(in *aheadInput, start int64) int64 {
	begins := nextMember
	switch in.kind {
	case "gzip":
	case "zstd":
		begins = nextFrame
	default:
		return -1
	}
	if a.looked == nil {
		a.looked = make([]byte, 64<<10)
	}
	from := start + a.sizes.piece
	for at := from; at < from+a.sizes.look; {
		n, err := in.file.At.ReadAt(a.looked, at)
		if i := begins(a.looked[:n]); i >= 0 {
			return at + int64(i)
		}
		if err != nil || n <= beginsBy {
			return -1
		}
		at += int64(n - beginsBy)
	}
	return -1
}

// beginsBy is one less than what tells where a member or a frame may begin.
const beginsBy = 4

// nextMember is where in some bytes a gzip member may begin (RFC 1952, section 2.3): the
// magic, the method, and no flag that is reserved.
func nextMember(data []byte) int { return nextMagic(data, gzipMagic+"\x08", 0xe0) }

// nextFrame is where in some bytes a zstd frame may begin (RFC 8878, section 3.1.1): the
// magic, and the reserved bit of the descriptor unset.
func nextFrame(data []byte) int { return nextMagic(data, zstdMagic, 0x08) }

// nextMagic is where in some bytes a magic stands before a byte without some bits; -1 is
// nowhere.
func nextMagic(data []byte, magic string, without byte) int {
	for at := 0; ; at++ {
		i := bytes.Index(data[at:], []byte(magic))
		if at += i; i < 0 || at+len(magic) >= len(data) {
			return -1
		}
		if data[at+len(magic)]&without == 0 {
			return at
		}
	}
}

// begin has a piece decoded, when a decoder is idle.
func (a *ahead) begin(ctx context.Context, p *piece) bool {
	if p.in.kind != "" {
		a.queue.add(p)
	}
	select {
	case a.order <- p:
	case <-ctx.Done():
		return false
	}
	if p.in.kind == "" {
		return true
	}
	select {
	case d := <-a.idle:
		a.active.Add(1)
		go a.decode(p, d)
		return true
	case <-ctx.Done():
		return true // who closes has the piece
	}
}

// decode decodes a piece into the queue.
func (a *ahead) decode(p *piece, d *aheadDecoders) {
	defer a.active.Done()
	defer func() { a.idle <- d }()
	if d.buf == nil {
		d.buf = bufio.NewReaderSize(nil, max(a.sizes.chunk, 16))
	}
	read := p.start
	d.buf.Reset(counter{io.NewSectionReader(p.in.file.At, p.start, math.MaxInt64-p.start), &read})
	used := func() int64 { return read - int64(d.buf.Buffered()) }
	r, err := a.decoder(p, d, used)
	if err != nil {
		a.queue.put(p, chunk{nil, read, used(), noEOF(err)})
	}
	for err == nil {
		buf := a.queue.take(p)
		if buf == nil {
			return
		}
		var n int
		n, err = readFull(r, buf)
		if !a.queue.put(p, chunk{buf[:n], read, used(), err}) {
			return
		}
	}
}

// readFull reads until p is full. Beside the bytes it returns the error that ends them.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for idle := 0; n < len(p) && err == nil; idle++ {
		var got int
		got, err = r.Read(p[n:])
		n += got
		switch {
		case got > 0:
			idle = 0
		case idle == 100:
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// decoder returns what a piece is decoded by. What may take much memory, and is not
// known before, waits for its turn.
func (a *ahead) decoder(p *piece, d *aheadDecoders, used func() int64) (io.Reader, error) {
	stop := func(at int64) bool {
		switch {
		case p.end < 0 || at < p.end:
			return false
		case at > p.end:
			p.end = -1
			a.queue.miss(p)
			return false
		}
		return true
	}
	switch p.in.kind {
	case "gzip":
		m := d.members(d.buf, used)
		m.stop = stop
		return m, nil
	case "zstd":
		f := d.frames(d.buf, used)
		f.stop, f.limit = stop, a.limits.maxWindow
		f.decoder = func(window int64) (*zstd.Decoder, error) {
			if 0 <= window && window <= d.maxWindow {
				return d.forWindow(window)
			}
			if !a.queue.awaitTurn(p) {
				return nil, errClosed
			}
			return a.large.forWindow(window)
		}
		return f, nil
	case "bzip2":
		return d.decodeStream(p.in.kind, d.buf)
	}
	if !a.queue.awaitTurn(p) {
		return nil, errClosed
	}
	return a.large.decodeStream(p.in.kind, d.buf)
}

// input returns the first piece of an input, which is to be read now. Nothing before it
// is needed any more. Nil is an input that is left to whoever asks.
func (a *ahead) input(index int) *piece {
	p := a.next()
	for p != nil && p.in.index < index {
		p = a.next()
	}
	return p
}

// next goes to the next piece, and is done with the one before it.
func (a *ahead) next() *piece {
	if a.taken != nil {
		a.queue.drop(a.taken)
	}
	a.taken = <-a.order
	return a.taken
}
