package confirm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// blockSize is the number of bytes read at a time, and found by one lookup. Each GiB read again has
// 32,768 blocks, and each takes some 50 bytes of memory.
const blockSize = 32 << 10

// maxOpen is the largest number of inputs open at a time, each read up to the last document asked
// for. To open another, the first is read to its end.
const maxOpen = 4

// Inputs reads the documents of inputs again, in any order: those in a plain file from their place
// in it, others from a temporary file to which they are written. For inputs that the run reads,
// [Inputs.Keep] notes the places. Inputs of an earlier run, or of the run before it was stopped, are
// read once more from their beginning, as far as documents are asked for. The temporary file has no
// name if the system allows that, and takes as much space as the texts.
//
// It is safe for concurrent use.
type Inputs struct {
	ctx    context.Context
	find   func(name string) (input.Input, error)
	source func(input.Input) *corpus.Source

	spool spool

	mu    sync.Mutex
	kept  map[string]*keptInput // of this run
	known map[string]*askedInput
	open  []*askedInput // not read to their end, the first asked for first
	buf   []byte
	block corpus.Block // to parse a record of a plain file
	// reopened is the input in whose plain file a text was read last, nil for none.
	reopened *plainFile
	file     *compress.File
	broken   error // of the spool: the run cannot continue
}

// NewInputs returns Inputs. find returns an input by its name, and source reads it as the run did.
func NewInputs(ctx context.Context, find func(name string) (input.Input, error), source func(input.Input) *corpus.Source) *Inputs {
	return &Inputs{ctx: ctx, find: find, source: source, known: map[string]*askedInput{}, kept: map[string]*keptInput{}}
}

// askedInput is an input with a requested document.
type askedInput struct {
	plainFile                // its format is nil until it is known
	source    *corpus.Source // nil once it is read to its end
	block     corpus.Block
	parser    corpus.Parser
	pieces    []piece // in order of places
	last      corpus.Place
	at        int64          // in the file, the expected start of the next block
	plain     *compress.File // nil once a block differs from the file
	failure   error          // why no more of it can be read
}

// plainFile is an input whose records can be read from their places in its file.
type plainFile struct {
	input.Input
	format corpus.Format
}

type piece struct {
	first   corpus.Place
	offset  int64 // in the plain file, or in the spool
	length  int
	records int // 0 for a piece of the spool
}

// errNotThere means that the input has no document at that place.
var errNotThere = errors.New("there is no document at its place")

// Text appends the text at a place to dst. Once the context is done, the error is the context's.
func (in *Inputs) Text(p Place, dst []byte) (id string, text []byte, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if x := in.kept[p.File]; x != nil {
		if at := pieceOf(x.pieces, p.At); at >= 0 {
			if id, text, err := in.read(x.plain, &x.pieces[at], p.At, dst); !errors.Is(err, errNotThere) {
				return id, text, err
			}
		}
	}
	x := in.input(p.File)
	for x.failure == nil && x.source != nil && x.last.Compare(p.At) < 0 {
		in.advance(x)
	}
	if err := in.lost(); err != nil {
		return "", nil, err
	}
	at := pieceOf(x.pieces, p.At)
	switch {
	case at >= 0 && p.At.Compare(x.last) <= 0:
		return in.read(&x.plainFile, &x.pieces[at], p.At, dst)
	case x.failure != nil:
		return "", nil, x.failure
	}
	return "", nil, errNotThere
}

// pieceOf returns the index of the last piece that begins no later than a place, or -1.
func pieceOf(pieces []piece, place corpus.Place) int {
	at, found := slices.BinarySearchFunc(pieces, place, func(q piece, at corpus.Place) int { return q.first.Compare(at) })
	if !found {
		at--
	}
	return at
}

// Lost returns the error that stops all further reading, whatever the input. Unlike a fault of one
// input it ends the run, because a continued run would decide otherwise.
func (in *Inputs) Lost() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lost()
}

func (in *Inputs) lost() error {
	return cmp.Or(in.broken, in.ctx.Err())
}

func (in *Inputs) input(name string) *askedInput {
	if x := in.known[name]; x != nil {
		return x
	}
	found, err := in.find(name)
	x := &askedInput{plainFile: plainFile{Input: found}}
	in.known[name] = x
	switch {
	case err != nil:
		x.failure = err
		return x
	case found.Size < 0:
		x.failure = fmt.Errorf("%s is not a file that can be read again", name)
		return x
	}
	for len(in.open) >= maxOpen {
		for first := in.open[0]; first.source != nil; {
			in.advance(first)
		}
	}
	x.source = in.source(found)
	x.source.Bound(blockSize, nil)
	if f, err := found.Open(); err == nil { // without it texts go to the spool
		x.plain = f
	}
	if mark := make([]byte, 3); x.plain != nil && x.plain.At != nil {
		if _, err := x.plain.At.ReadAt(mark, 0); err == nil && string(mark) == "\xef\xbb\xbf" {
			x.at = 3 // which the format passes over
		}
	}
	in.open = append(in.open, x)
	return x
}

func (in *Inputs) advance(x *askedInput) {
	err := x.source.Next(in.ctx, &x.block)
	if err == nil {
		err = in.keep(x)
	}
	if err != nil {
		in.finish(x, err)
	}
}

func (in *Inputs) finish(x *askedInput, err error) {
	if err != io.EOF {
		x.failure = err
	}
	_ = x.source.Close() // it was only read
	if x.plain != nil {
		_ = x.plain.Close()
	}
	x.block.Release()
	x.source, x.plain, x.parser, x.block = nil, nil, nil, corpus.Block{}
	in.open = slices.DeleteFunc(in.open, func(o *askedInput) bool { return o == x })
}

// keep records the places of the documents in the block just read.
func (in *Inputs) keep(x *askedInput) error {
	b := &x.block
	if x.parser == nil {
		parser, err := b.Format.NewParser("")
		if err != nil {
			return err
		}
		x.parser, x.format = parser, b.Format
	}
	if in.standsInFile(x) {
		x.pieces = append(x.pieces, piece{first: b.First, offset: x.at, length: len(b.Data), records: b.Records})
		x.last = corpus.Place{Part: b.First.Part, Record: b.First.Record + int64(b.Records) - 1}
		x.at += int64(len(b.Data))
		return nil
	}
	var pieces []piece
	pieces, in.buf, in.broken = in.spool.write(in.buf, x.parser.Parse(b), func(at corpus.Place) { x.last = at })
	x.pieces = append(x.pieces, pieces...)
	return in.broken
}

// standsInFile reports whether the file has exactly the bytes of the block at x.at. Otherwise it
// cannot be read again there, as in a compressed file or one in another encoding.
func (in *Inputs) standsInFile(x *askedInput) bool {
	if x.plain == nil {
		return false
	}
	b := &x.block
	in.buf = slices.Grow(in.buf[:0], len(b.Data))[:len(b.Data)]
	if b.Format.Kind() == corpus.ByEnds && b.Reject == "" && len(b.Data) > 0 && x.plain.At != nil {
		if _, err := x.plain.At.ReadAt(in.buf, x.at); err == nil && bytes.Equal(in.buf, b.Data) {
			return true
		}
	}
	_ = x.plain.Close()
	x.plain = nil
	return false
}

// read finds a document in a piece of a plain file or of the spool.
func (in *Inputs) read(x *plainFile, p *piece, at corpus.Place, dst []byte) (id string, text []byte, err error) {
	in.buf = slices.Grow(in.buf[:0], p.length)[:p.length]
	if p.records == 0 {
		if _, err := in.spool.file.ReadAt(in.buf, p.offset); err != nil {
			in.broken = fmt.Errorf("reading a temporary file: %w", err)
			return "", nil, in.broken
		}
		return spooled(in.buf, at, dst)
	}
	if at.Record >= p.first.Record+int64(p.records) {
		return "", nil, errNotThere
	}
	if err := in.reopen(x); err != nil {
		return "", nil, err
	}
	if _, err := in.file.At.ReadAt(in.buf, p.offset); err != nil {
		return "", nil, err
	}
	parser, err := x.format.NewParser("")
	if err != nil {
		return "", nil, err
	}
	data, cut := in.buf, x.format.Cutter()
	for range at.Record - p.first.Record {
		data = data[max(cut.End(data, 0), 0):]
	}
	if end := cut.End(data, 0); end >= 0 {
		data = data[:end]
	}
	in.block.Refill(corpus.BlockOf(x.Name, at.Record, data, x.format))
	defer in.block.Release()
	for doc := range parser.Parse(&in.block) {
		if doc.Bad == nil && !doc.Empty {
			return string(doc.ID), append(dst, doc.Text...), nil
		}
	}
	return "", nil, errNotThere
}

// reopen opens the plain file of an input, nil for none, and closes another.
func (in *Inputs) reopen(x *plainFile) (err error) {
	if in.reopened == x {
		return nil
	}
	if in.reopened != nil {
		_ = in.file.Close() // it was only read
	}
	if in.reopened = nil; x == nil {
		return nil
	}
	if in.file, err = x.Open(); err == nil {
		in.reopened = x
	}
	return err
}

// Close closes all inputs and the temporary file. It does nothing for nil.
func (in *Inputs) Close() error {
	if in == nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.open) > 0 {
		in.finish(in.open[0], os.ErrClosed)
	}
	_ = in.reopen(nil)
	file := in.spool.file
	if in.spool.file = nil; file == nil {
		return nil
	}
	return file.Close()
}
