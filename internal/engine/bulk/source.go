package bulk

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

// Inputs returns the inputs of all shards in order, as a run over them has them. Each has the path of
// its shard, because that is read instead. The first input of a shard has the size of the shard.
func Inputs(set []*Manifest) (inputs []input.Input) {
	for _, m := range set {
		size := m.size()
		for _, in := range m.Inputs {
			inputs = append(inputs, input.Input{Path: m.path(shardEnding), Name: in.Name, Size: size})
			size = 0
		}
	}
	return inputs
}

// size returns the stored bytes of a shard, or 0 if it is gone.
func (m *Manifest) size() (bytes int64) {
	if info, err := os.Stat(m.path(shardEnding)); err == nil {
		bytes = info.Size()
	}
	return bytes
}

// A Source reads the documents of a set for a run that makes an index. Places and indexes of inputs
// are those of [Inputs], so a run continues as over the inputs themselves. It is for one goroutine.
type Source struct {
	set   []*Manifest
	input int          // documents before this input are left out
	at    corpus.Place // and those of it before this place

	most  int           // bytes of a block, except for a longer record
	block *corpus.Block // to fill
	doc   Doc
	read  int64 // bytes of the shards before
	next  func() (error, bool)
	stop  func()
}

// NewSource returns a source of the documents of a set, from a place in an input on.
func NewSource(set []*Manifest, input int, at corpus.Place) *Source {
	return &Source{set: set, input: input, at: at, stop: func() {}}
}

// Bound sets the bytes of a block. A record with a longer id is in memory already, so no room is asked for.
func (s *Source) Bound(blockSize int, _ func(ctx context.Context, n int) error) { s.most = blockSize }

// Next fills b with the next documents of one input. It returns io.EOF after the last.
func (s *Source) Next(ctx context.Context, b *corpus.Block) error {
	if s.next == nil {
		s.next, s.stop = iter.Pull(s.blocks(ctx))
	}
	b.Release()
	b.Data, b.Spans, b.Records = b.Data[:0], b.Spans[:0], 0
	s.block = b
	err, more := s.next()
	if !more {
		return io.EOF
	}
	return err
}

// Close ends the reading.
func (s *Source) Close() error {
	s.stop()
	return nil
}

var errStopped = errors.New("the reader of the shards has stopped")

// blocks yields after each block that it has filled, and an error at the end.
func (s *Source) blocks(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		first := 0 // index of the shard's first input
		for _, m := range s.set {
			if after := first + len(m.Inputs); after > s.input {
				err := m.eachRecord(ctx, func(m *Manifest, _ Place, record []byte) error {
					return s.add(m, first, record, yield)
				})
				if err != nil {
					if !errors.Is(err, errStopped) {
						yield(err)
					}
					return
				}
			}
			s.read += m.size()
			first += len(m.Inputs)
		}
		if s.block.Records > 0 {
			yield(nil)
		}
	}
}

// add adds a record to the block, after a yield if that is full or of another input.
func (s *Source) add(m *Manifest, first int, record []byte, yield func(error) bool) error {
	if err := s.doc.read(record); err != nil {
		return err
	}
	file, err := m.fileOf(&s.doc)
	if err != nil {
		return err
	}
	of := first + s.doc.Input
	if of < s.input || of == s.input && s.doc.At.Compare(s.at) < 0 {
		return nil
	}
	if b := s.block; b.Records > 0 && (b.Input != of || len(b.Data)+len(record) > s.most) && !yield(nil) {
		return errStopped
	}
	b, start := s.block, len(s.block.Data)
	b.Data = append(b.Data, record...)
	b.Spans = append(b.Spans, corpus.Span{At: s.doc.At, Start: start, End: len(b.Data)})
	b.Input, b.File, b.Read, b.Format = of, file, s.read, format{}
	b.Records++
	return nil
}

// format is that of the blocks of a [Source]. It writes no records.
type format struct{ corpus.Format }

func (format) Noun() string { return "document" }

func (format) NewParser(string) (corpus.Parser, error) { return new(parser), nil }

type parser struct {
	record Doc
	doc    corpus.Document
}

// Parse implements [corpus.Parser]. The documents have no texts: [ParseSketch] reads their sketches from Raw.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.Documents(&p.doc, func() error {
		err := p.record.read(p.doc.Raw)
		p.doc.ID, p.doc.Time = p.record.ID, p.record.Time
		return err
	})
}
