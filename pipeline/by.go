package pipeline

import (
	"path/filepath"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/report"
)

// By is the value by which documents are counted, beside the count of all, see [report.Groups].
type By struct {
	Field string // as it is called in the summary
	// Format returns a format that reads the same records, with the value as their id. It returns
	// nil if there is no such format. A nil function counts by the inputs.
	Format func(corpus.Format) corpus.Format
	Folder bool // by the folder of the input
}

// grouper finds the values of the documents of a batch, for one worker.
type grouper struct {
	by     *By
	parser corpus.Parser
	known  bool // whether parser is already the right one
}

// A valued record is the position of a value in batch.values; without one both are 0.
type valued struct {
	at         corpus.Place
	start, end int
}

// find notes the values of all documents of a batch. It parses the block, so the results of an
// earlier parse are gone.
func (g *grouper) find(b *batch) error {
	b.values, b.valued = b.values[:0], b.valued[:0]
	if g.by.Format == nil {
		return nil
	}
	if !g.known {
		g.known = true
		if format := g.by.Format(b.block.Format); format != nil {
			var err error
			if g.parser, err = format.NewParser(""); err != nil {
				return err
			}
		}
	}
	if g.parser == nil {
		return nil
	}
	for doc := range g.parser.Parse(&b.block) {
		v := valued{at: doc.At, start: len(b.values)}
		if doc.Bad == nil && string(doc.ID) != string(b.block.Name(doc.At)) {
			b.values = append(b.values, clipped(doc.ID)...)
			v.end = len(b.values)
		}
		b.valued = append(b.valued, v)
	}
	return nil
}

// clipped returns a value cut to the allowed length, between characters.
func clipped(value []byte) []byte {
	if len(value) <= report.MaxGroupBytes {
		return value
	}
	end := report.MaxGroupBytes
	for end > 0 && !utf8.RuneStart(value[end]) {
		end--
	}
	return value[:end]
}

// of is the value of a record, nil for none. next is the first of batch.valued that may be
// it, and is moved on.
func (g *grouper) of(b *batch, at corpus.Place, next *int) []byte {
	switch {
	case g.by.Folder:
		return []byte(filepath.ToSlash(filepath.Dir(b.block.File)))
	case g.by.Format == nil:
		return []byte(b.block.File)
	}
	for ; *next < len(b.valued); *next++ {
		if v := b.valued[*next]; v.at == at {
			*next++
			if v.end == 0 {
				return nil
			}
			return b.values[v.start:v.end:v.end]
		}
	}
	return nil
}
