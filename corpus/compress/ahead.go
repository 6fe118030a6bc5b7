package compress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// Ahead decodes compressed files before they are read, in several goroutines. It hands out the decoded
// bytes in the order of the inputs, with the errors of sequential reading behind the same bytes.
//
// One goroutine decodes a piece of a file: the whole, or some of its gzip members or zstd frames. A
// piece ends at the member or frame with which the next piece began. The magic bytes of a beginning
// may stand anywhere. So a piece is believed only when the one before it has come to its very
// beginning; unreached pieces are dropped.
//
// Its sizes bound the memory. Uncompressed files are left to the reader, and so is an index for which
// open returns nil.
type Ahead struct {
	files  int
	open   func(index int) *File
	sizes  AheadSizes
	limits Decoders // what all decoders keep to

	queue  *queue
	order  chan *Piece // in the order in which they are read
	idle   chan *Decoders
	large  *Decoders // for large windows: of the piece being read
	stop   context.CancelFunc
	active sync.WaitGroup
	number int64  // of pieces, so far
	taken  *Piece // being read
	looked []byte // searched for pieces
}

// AheadSizes say how much is decoded ahead.
type AheadSizes struct {
	Decoders int // goroutines that decode
	Chunk    int // bytes of a buffer
	Buffers  int
	Window   int64 // largest window of a zstd frame decoded before its turn
	Piece    int64 // stored bytes that a piece has at least, unless the input ends
	Look     int64 // and behind them, in which the beginning of the next is looked for
}

// maxDecoders is how many goroutines decode at most. More are not needed: this is some
// 2 GB/s of gzip, and each takes its share of the memory.
const maxDecoders = 8

// DefaultAheadMemory is what decoding ahead takes at most, unless a SourceConfig says
// otherwise, in bytes.
const DefaultAheadMemory = 48 << 20

// SizesFor divides memory: half of it are buffers, the other the windows of decoders.
func SizesFor(n int, memory int64) AheadSizes {
	n = min(n, maxDecoders)
	const size = 128 << 10
	return AheadSizes{
		Decoders: n, Chunk: size, Buffers: max(int(memory/2/size), 2*forTurn),
		Window: memory / 2 / int64(max(n, 1)), Piece: 512 << 10, Look: 16 << 20,
	}
}

// aheadInput is a file decoded in pieces.
type aheadInput struct {
	index int
	File  *File  // nil: not opened
	Kind  string // of compression; "" is left to the reader
	over  atomic.Bool
}

// Piece is what one goroutine decodes.
type Piece struct {
	In     *aheadInput
	number int64 // of all pieces, in their order
	start  int64 // its beginning in the file
	end    int64 // the beginning of the next one; -1 is the end of the file

	// Of the queue:
	done    []chunk
	ended   bool // all of it is decoded
	dropped bool // not needed any more
	missed  bool // nothing begins at its end
}

// errClosed is returned by who is closed while it is read.
var errClosed = fmt.Errorf("reading ahead: %w", os.ErrClosed)

// StartAhead begins to decode so many files, from the one with the index first on. open
// returns nil for a file that the reader opens itself.
func StartAhead(files int, open func(index int) *File, first int, limits Decoders, sizes AheadSizes) *Ahead {
	ctx, stop := context.WithCancel(context.Background())
	a := &Ahead{
		files: files, open: open, sizes: sizes, limits: Decoders{MaxWindow: limits.MaxWindow, MaxRatio: limits.MaxRatio},
		queue: newQueue(sizes.Buffers, sizes.Chunk, sizes.Decoders),
		order: make(chan *Piece, 2*sizes.Decoders),
		idle:  make(chan *Decoders, sizes.Decoders),
		stop:  stop,
	}
	a.large = &Decoders{MaxWindow: limits.MaxWindow}
	for range sizes.Decoders {
		a.idle <- &Decoders{MaxWindow: min(sizes.Window, limits.MaxWindow)}
	}
	a.active.Add(1)
	go a.plan(ctx, first)
	return a
}

// Close ends all goroutines and gives the memory back.
func (a *Ahead) Close() {
	a.stop()
	a.queue.close()
	for p := range a.order {
		p.In.close()
	}
	a.active.Wait()
	for range a.sizes.Decoders {
		(<-a.idle).Close()
	}
	a.large.Close()
	a.queue.release()
}

func (in *aheadInput) close() {
	if in.File != nil {
		_ = in.File.Close() // only read; it may be closed already
	}
}

// plan finds the pieces of the inputs, one after the other, and has them decoded.
func (a *Ahead) plan(ctx context.Context, first int) {
	defer a.active.Done()
	defer close(a.order)
	for i := first; i < a.files && ctx.Err() == nil; i++ {
		in := a.look(i)
		for start := int64(0); start >= 0 && !in.over.Load(); {
			end := int64(-1)
			if in.Kind != "" {
				end = a.nextPiece(in, start)
			}
			p := &Piece{In: in, number: a.number, start: start, end: end}
			a.number++
			if !a.begin(ctx, p) {
				in.close()
				return
			}
			start = end
		}
	}
}

// look opens a file, and finds out whether it is compressed.
func (a *Ahead) look(index int) *aheadInput {
	in := &aheadInput{index: index, File: a.open(index)}
	if in.File != nil && in.File.At != nil {
		var head [HeadSize]byte
		n, _ := in.File.At.ReadAt(head[:], 0)
		in.Kind = CompressionOf(head[:n])
	}
	return in
}

// nextPiece returns a possible beginning of the piece after the one at start, or -1.
func (a *Ahead) nextPiece(in *aheadInput, start int64) int64 {
	magic, without := GzipMagic+"\x08", byte(0xe0) // the method, and no reserved flag (RFC 1952, section 2.3)
	switch in.Kind {
	case "gzip":
	case "zstd":
		magic, without = ZstdMagic, 0x08 // the reserved bit of the descriptor (RFC 8878, section 3.1.1)
	default:
		return -1
	}
	if a.looked == nil {
		a.looked = make([]byte, 64<<10)
	}
	from := start + a.sizes.Piece
	for at := from; at < from+a.sizes.Look; {
		n, err := in.File.At.ReadAt(a.looked, at)
		if i := nextMagic(a.looked[:n], magic, without); i >= 0 {
			return at + int64(i)
		}
		if err != nil || n <= len(magic) {
			return -1
		}
		at += int64(n - len(magic))
	}
	return -1
}

// nextMagic returns the index of a magic before a byte without some bits, or -1.
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
func (a *Ahead) begin(ctx context.Context, p *Piece) bool {
	if p.In.Kind != "" {
		a.queue.add(p)
	}
	select {
	case a.order <- p:
	case <-ctx.Done():
		return false
	}
	if p.In.Kind == "" {
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
func (a *Ahead) decode(p *Piece, d *Decoders) {
	defer a.active.Done()
	defer func() { a.idle <- d }()
	if d.buf == nil {
		d.buf = bufio.NewReaderSize(nil, max(a.sizes.Chunk, 16))
	}
	read := p.start
	d.buf.Reset(Counter{io.NewSectionReader(p.In.File.At, p.start, math.MaxInt64-p.start), &read})
	used := func() int64 { return read - int64(d.buf.Buffered()) }
	r, err := a.decoder(p, d, used)
	if err != nil {
		a.queue.put(p, chunk{nil, read, used(), NoEOF(err)})
	}
	for err == nil {
		buf := a.queue.take(p)
		if buf == nil {
			return
		}
		var n int
		n, err = ReadFull(r, buf)
		if !a.queue.put(p, chunk{buf[:n], read, used(), err}) {
			return
		}
	}
}

// decoder returns the decoder of a piece. A piece with maybe much memory waits for its turn.
func (a *Ahead) decoder(p *Piece, d *Decoders, used func() int64) (io.Reader, error) {
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
	s := &series{r: d.buf, at: used, stop: stop}
	switch p.In.Kind {
	case "gzip", "bzip2":
	case "zstd":
		s.limit = a.limits.MaxWindow
		s.decoder = func(window int64) (*zstd.Decoder, error) {
			if 0 <= window && window <= d.MaxWindow {
				return d.forWindow(window)
			}
			if !a.queue.awaitTurn(p) {
				return nil, errClosed
			}
			return a.large.forWindow(window)
		}
	default:
		if !a.queue.awaitTurn(p) {
			return nil, errClosed
		}
		d = a.large
	}
	return d.open(p.In.Kind, s)
}

// Input returns the first piece of the input to read now. Pieces before it are not needed any more. Nil
// is an input left to the caller.
func (a *Ahead) Input(index int) *Piece {
	for {
		if p := a.next(); p == nil || p.In.index >= index {
			return p
		}
	}
}

// next goes to the next piece, and is done with the one before it.
func (a *Ahead) next() *Piece {
	if a.taken != nil {
		a.queue.drop(a.taken)
	}
	a.taken = <-a.order
	return a.taken
}

// aheadReader reads an input decoded ahead.
type aheadReader struct {
	a     *Ahead
	p     *Piece
	c     chunk
	left  []byte // of c
	began int64  // the value of read at the start of the input
	read  *int64 // bytes of all inputs
	ratio Expansion
}

// Reader reads the input with the first piece p, and counts its stored bytes in read, from began on.
func (a *Ahead) Reader(p *Piece, read *int64, began int64) *aheadReader {
	r := &aheadReader{a: a, p: p, read: read, began: began}
	r.ratio = Expansion{Stored: func() int64 { return r.c.used }, Most: a.limits.MaxRatio}
	return r
}

func (r *aheadReader) Read(b []byte) (int, error) {
	for len(r.left) == 0 {
		switch err := r.c.err; {
		case err == nil:
			r.fetch()
		case !errors.Is(err, errHandedOver):
			return 0, err
		default:
			next := r.a.next()
			if next == nil || next.In != r.p.In {
				return 0, errClosed // it is closed meanwhile
			}
			r.p, r.c = next, chunk{}
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	if len(r.left) == 0 {
		r.a.queue.give(r.c.data)
		r.c.data = nil
	}
	return n, nil
}

func (r *aheadReader) fetch() {
	r.c = r.a.queue.get(r.p)
	r.left = r.c.data
	*r.read = max(*r.read, r.began+r.c.read)
	if err := r.ratio.Add(len(r.left)); err != nil {
		r.c.err = err
	}
	if r.c.err != nil && !errors.Is(r.c.err, errHandedOver) {
		r.p.In.over.Store(true)
	}
	if len(r.left) == 0 {
		r.a.queue.give(r.c.data)
		r.c.data = nil
	}
}
