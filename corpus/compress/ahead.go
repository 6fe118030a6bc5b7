package compress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/internal/base/hugemem"
)

// Ahead decodes compressed files in several goroutines, before they are read. It returns the
// decoded bytes in the order of the inputs, with errors after the same bytes as sequential reading.
//
// One goroutine decodes one piece of a file: the whole file, or some of its gzip members or zstd
// frames. A piece ends at the member or frame that begins the next piece. Magic bytes may occur
// elsewhere, so a piece is used only if the one before it ends at its start, and dropped otherwise.
//
// AheadSizes bound the memory. Uncompressed files are left to the reader.
type Ahead struct {
	open  func(index int) *File
	sizes AheadSizes
	ratio int // decoded bytes for each stored one

	ctx     context.Context // canceled by Close
	cancel  context.CancelFunc
	pieces  chan *piece // in order
	current *piece      // the piece being read
	idle    chan *worker
	alone   chan *worker // one worker, with memory for any window, for the piece being read
	active  sync.WaitGroup
	mem     []byte // of all buffers
	looked  []byte // buffer of nextPiece
}

// AheadSizes set how much is decoded ahead.
type AheadSizes struct {
	Decoders int   // number of decoding goroutines
	Chunk    int   // size of a buffer in bytes
	Buffers  int   // per decoder, at least 2: one is filled while another is read
	Window   int64 // largest window of a zstd frame decoded ahead
	Piece    int64 // minimum stored bytes of a piece, unless the input ends
	Look     int64 // stored bytes after Piece searched for the start of the next piece
}

// maxDecoders limits the goroutines. Eight decode some 2 GB/s of gzip, and each takes memory.
const maxDecoders = 8

// AheadMemory is the maximum memory for decoding ahead, in bytes.
const AheadMemory = 48 << 20

// SizesFor divides the memory for n decoders: half for buffers, half for windows. A decoder with
// full buffers waits until its piece is read. Pieces are small enough that most fit.
func SizesFor(n int) AheadSizes {
	n = min(max(n, 1), maxDecoders)
	const size = 128 << 10
	return AheadSizes{
		Decoders: n, Chunk: size, Buffers: (AheadMemory/2/size - aloneBuffers) / n,
		Window: int64(AheadMemory / 2 / n), Piece: 256 << 10, Look: 16 << 20,
	}
}

// aloneBuffers is the number of buffers for the piece being read.
const aloneBuffers = 2

// aheadInput is a file decoded in pieces.
type aheadInput struct {
	index int
	file  *File  // nil: not opened
	kind  string // of compression; "" is left to the reader
	ctx   context.Context
	over  context.CancelFunc // cancels ctx: no other piece is needed
}

// piece is a part of a file decoded by one goroutine.
type piece struct {
	in      *aheadInput
	start   int64         // offset in the file
	end     int64         // start of the next piece; -1 is the end of the file
	alone   bool          // it is being read, and is the rest of the file
	done    chan struct{} // closed when the piece was read
	decoded chan chunk
}

// chunk is a part of the decoded bytes of a piece.
type chunk struct {
	data []byte // a buffer, valid until the next chunk is received
	read int64  // offset in the file up to which it was read, including buffered bytes
	used int64  // offset up to which it was decoded
	err  error  // follows data, instead of another chunk
}

// worker decodes one piece at a time. Its buffers are used in turn.
type worker struct {
	Decoders
	buffers [][]byte
}

// errClosed is returned to a reader after Close.
var errClosed = fmt.Errorf("reading ahead: %w", os.ErrClosed)

// StartAhead decodes files, from the index first on. open returns nil for files left to the reader.
func StartAhead(files int, open func(index int) *File, first int, limits Decoders, sizes AheadSizes) *Ahead {
	a := &Ahead{
		open: open, sizes: sizes, ratio: limits.MaxRatio,
		pieces: make(chan *piece, 2*sizes.Decoders),
		idle:   make(chan *worker, sizes.Decoders),
		alone:  make(chan *worker, 1),
		looked: make([]byte, 64<<10),
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	size := (sizes.Decoders*sizes.Buffers + aloneBuffers) * sizes.Chunk
	mem, err := hugemem.Alloc(size)
	if err != nil { // address space is short: use the heap
		mem = make([]byte, size)
	}
	a.mem = mem
	newWorker := func(window int64, buffers int) *worker {
		w := &worker{Decoders: Decoders{Bounds: Bounds{MaxWindow: min(window, limits.MaxWindow)}}}
		for range buffers {
			w.buffers = append(w.buffers, mem[:sizes.Chunk:sizes.Chunk])
			mem = mem[sizes.Chunk:]
		}
		return w
	}
	a.alone <- newWorker(limits.MaxWindow, aloneBuffers)
	for range sizes.Decoders {
		a.idle <- newWorker(sizes.Window, sizes.Buffers)
	}
	a.active.Go(func() { // finds the pieces of the inputs in order, and starts their decoding
		defer close(a.pieces)
		for i := first; i < files && a.ctx.Err() == nil; i++ {
			a.planInput(a.look(i))
		}
	})
	return a
}

// Close ends all goroutines and frees the memory. The reader closes the file it is reading.
func (a *Ahead) Close() {
	a.cancel()
	a.active.Wait()
	for p := range a.pieces {
		p.in.close()
	}
	for range a.sizes.Decoders {
		(<-a.idle).Close()
	}
	(<-a.alone).Close()
	_ = hugemem.Free(a.mem) // it refuses memory of the heap
}

// planInput finds the pieces of an input until no more are needed.
func (a *Ahead) planInput(in *aheadInput) {
	for start := int64(0); start >= 0; {
		p := &piece{
			in: in, start: start, end: a.nextPiece(in, start), done: make(chan struct{}),
			decoded: make(chan chunk, a.sizes.Buffers-2), // one is filled, one is read
		}
		select {
		case a.pieces <- p:
		case <-a.ctx.Done():
			in.close() // an earlier piece may close it again
			return
		}
		if in.kind == "" {
			in.over()
			return
		}
		select {
		case w := <-a.idle:
			a.active.Go(func() { a.decode(p, w, a.idle) })
		case <-in.ctx.Done():
			return
		}
		start = p.end
	}
}

// look opens a file and detects its compression.
func (a *Ahead) look(index int) *aheadInput {
	in := &aheadInput{index: index, file: a.open(index)}
	in.ctx, in.over = context.WithCancel(a.ctx)
	if in.file != nil && in.file.At != nil {
		var head [HeadSize]byte
		n, _ := in.file.At.ReadAt(head[:], 0)
		in.kind = CompressionOf(head[:n])
	}
	return in
}

func (in *aheadInput) close() {
	if in.file != nil {
		_ = in.file.Close() // only read; it may be closed already
	}
}

// nextPiece returns a possible start of the piece after the one at start, or -1.
func (a *Ahead) nextPiece(in *aheadInput, start int64) int64 {
	begin, ok := memberBegins[in.kind]
	if !ok {
		return -1
	}
	from := start + a.sizes.Piece
	for at := from; at < from+a.sizes.Look; {
		n, err := in.file.At.ReadAt(a.looked, at)
		if i := nextMagic(a.looked[:n], begin.magic, begin.without); i >= 0 {
			return at + int64(i)
		}
		if err != nil || n <= len(begin.magic) {
			return -1
		}
		at += int64(n - len(begin.magic))
	}
	return -1
}

// decode decodes a piece, then returns the worker to home. The piece ends with errHandedOver at the
// first member from p.end on, and before data that needs the alone worker.
func (a *Ahead) decode(p *piece, w *worker, home chan *worker) {
	defer func() { home <- w }()
	read := p.start
	br := w.buffered(Counter{io.NewSectionReader(p.in.file.At, p.start, math.MaxInt64-p.start), &read}, a.sizes.Chunk)
	used := func() int64 { return read - int64(br.Buffered()) }
	r, err := w.begin(p, &members{r: br, at: used, stop: func(at int64) bool { return p.end >= 0 && at >= p.end }})
	err = NoEOF(err)
	for i := 0; ; i++ {
		var data []byte
		if err == nil {
			data = w.buffers[i%len(w.buffers)]
			var n int
			n, err = ReadFull(r, data)
			data = data[:n]
		}
		select {
		case p.decoded <- chunk{data, read, used(), err}:
		case <-p.in.ctx.Done():
			return
		case <-p.done:
			return
		}
		if err != nil {
			break
		}
	}
	select { // the reader uses the buffers until then
	case <-p.in.ctx.Done():
	case <-p.done:
	}
}

// begin opens a piece. It returns errHandedOver for data that may exceed the worker's memory.
func (w *worker) begin(p *piece, m *members) (io.Reader, error) {
	switch {
	case p.alone || p.in.kind == "gzip" || p.in.kind == "bzip2":
	case p.in.kind == "zstd":
		m.decoder = func(window int64) (*zstd.Decoder, error) {
			if window < 0 || window > w.MaxWindow {
				return nil, errHandedOver
			}
			return w.forWindow(window)
		}
	default:
		return nil, errHandedOver
	}
	return w.open(p.in.kind, m)
}

// next finishes the current piece and returns the next one, or nil.
func (a *Ahead) next() *piece {
	if a.current != nil {
		close(a.current.done)
	}
	a.current = <-a.pieces
	return a.current
}

// rest decodes the rest of an input as one piece, and drops its other pieces.
func (a *Ahead) rest(in *aheadInput, start int64) *piece {
	in.over()
	close(a.current.done)
	again := &aheadInput{index: in.index, file: in.file, kind: in.kind}
	again.ctx, again.over = context.WithCancel(a.ctx)
	a.current = &piece{in: again, start: start, end: -1, alone: true, done: make(chan struct{}), decoded: make(chan chunk)}
	p, w := a.current, <-a.alone // free once the last piece it decoded was read
	a.active.Go(func() { a.decode(p, w, a.alone) })
	return p
}

// Input returns the file of the next input to read and a reader of its decoded bytes. A nil result
// is left to the caller. The reader adds the stored bytes it uses to *read.
func (a *Ahead) Input(index int, read *int64) (*File, io.Reader) {
	p := a.next()
	for p != nil && p.in.index < index { // skipped inputs
		p = a.next()
	}
	if p == nil {
		return nil, nil
	}
	if p.in.kind == "" {
		return p.in.file, nil
	}
	r := &aheadReader{a: a, p: p, read: read, began: *read}
	r.ratio = Expansion{Stored: func() int64 { return r.c.used }, Most: a.ratio}
	return p.in.file, r
}

// aheadReader reads an input decoded ahead.
type aheadReader struct {
	a     *Ahead
	p     *piece
	c     chunk
	left  []byte // of c
	began int64  // value of *read at the start of the input
	read  *int64 // stored bytes of all inputs
	ratio Expansion
}

func (r *aheadReader) Read(b []byte) (int, error) {
	for len(r.left) == 0 {
		switch err := r.c.err; {
		case err == nil:
			r.fetch()
		case !errors.Is(err, errHandedOver):
			r.p.in.over()
			return 0, err
		case r.c.used != r.p.end: // no member begins at p.end
			r.p, r.c = r.a.rest(r.p.in, r.c.used), chunk{}
		default:
			next := r.a.next()
			if next == nil || next.in != r.p.in {
				return 0, errClosed // Close was called
			}
			r.p, r.c = next, chunk{}
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *aheadReader) fetch() {
	select {
	case r.c = <-r.p.decoded:
	case <-r.a.ctx.Done():
		r.c = chunk{err: errClosed}
	}
	r.left = r.c.data
	*r.read = max(*r.read, r.began+r.c.read)
	if err := r.ratio.Add(int64(len(r.left))); err != nil {
		r.c.err = err
	}
}
