package derive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Names of attributes: lists of spans [start, end, value], in characters (code points) as in dolma.
const (
	Removed = "firstseen__removed" // the whole text of a document that was not kept, with its score
	Related = "firstseen__related" // the same, for a kept document related to another
	Mosaic  = "firstseen__mosaic"  // the same, for a document made of several
	Shared  = "firstseen__shared"  // passages that the earlier document has too, with 1
	Bad     = "firstseen__bad"     // an empty span of a bad record, with 1
	// Passage lists passages that stand in earlier documents, with their word counts. PassageOf and
	// PassageCount list the earlier document of each, and the number of documents with it.
	Passage      = "firstseen__passage"
	PassageOf    = "firstseen__passage_of"
	PassageCount = "firstseen__passage_count"
)

// ErrNoSpans is returned for a report written without the spans of shared passages.
var ErrNoSpans = errors.New("the report does not say where the shared passages are: run firstseen dedup with --spans")

// span is one value of an attribute.
type span struct {
	Start, End int
	Value      float64
}

// MarshalJSON writes [start, end, value].
func (s span) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{s.Start, s.End, s.Value})
}

// row is a line of a file of attributes.
type row struct {
	ID         string         `json:"id"`
	Attributes map[string]any `json:"attributes"`
}

// Count returns the number of documents with a passage.
type Count func(id string, p *report.Passage) int

// rowOf returns the row of a record with its line of the report, or nil.
func rowOf(doc *corpus.Document, line *lines.Line, count Count) (r row, err error) {
	r.ID, r.Attributes = string(doc.ID), map[string]any{}
	if doc.Bad != nil {
		r.Attributes[Bad] = []span{{0, 0, 1}}
		return r, nil
	}
	if line == nil {
		return r, nil
	}
	length := utf8.RuneCount(doc.Text)
	whole := []span{{0, length, float64(line.Score)}}
	switch {
	case !line.Kept:
		r.Attributes[Removed] = whole
	case line.Verdict == "related":
		r.Attributes[Related] = whole
	case line.Verdict == "mosaic":
		r.Attributes[Mosaic] = whole
	}
	var shared, passages []span
	var of []string
	var counts []int
	for i := range line.Passages {
		p := &line.Passages[i]
		passages, of, counts = append(passages, span{p.Start, p.End, float64(p.Units)}), append(of, p.Of), append(counts, count(line.ID, p))
	}
	for _, s := range line.Spans {
		shared = append(shared, span{s[0], s[1], 1})
	}
	for _, s := range slices.Concat(shared, passages) {
		if s.Start < 0 || s.Start > s.End || s.End > length {
			return r, fmt.Errorf("%w; the passages of %q do not lie in its text", ErrOther, line.ID)
		}
	}
	if len(passages) > 0 {
		r.Attributes[Passage], r.Attributes[PassageOf], r.Attributes[PassageCount] = passages, of, counts
	}
	switch {
	case len(shared) > 0:
		r.Attributes[Shared] = shared
	case line.Spans == nil && line.Verdict != "unique":
		return r, ErrNoSpans
	}
	return r, nil
}

// AttributesName returns the name of an input's file of attributes. It is the input's name if that
// file is JSON Lines, plain, .gz or .zst. Otherwise .jsonl.gz is added.
func AttributesName(name string) string {
	plain, _ := output.CutPacking(name)
	switch filepath.Ext(plain) {
	case ".jsonl", ".json", ".ndjson":
		return name
	}
	return name + ".jsonl.gz"
}

// Attributes writes a file of attributes below dir for each name, with a row for each record in
// order. It replaces files atomically. It calls opened with each file, and check with each record.
func Attributes(ctx context.Context, source *corpus.Source, names []string, all *lines.Reports, count Count, dir string, opened func(*output.Writer), check func(corpus.Record, error) (good bool, err error)) (err error) {
	var out *output.Writer
	defer func() { err = errors.Join(err, out.Discard()) }()
	begun := 0
	begin := func(behind int) (err error) {
		for ; begun < behind && err == nil; begun++ {
			path := filepath.Join(dir, AttributesName(names[begun]))
			if err = out.Close(); err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o777)
			}
			if err == nil {
				out, err = output.Create(path)
			}
			if err == nil {
				opened(out)
			}
		}
		return err
	}
	var buf []byte
	for r, err := range Records(ctx, source, all) {
		var made row
		if _, err = check(r.Record, err); err == nil {
			err = begin(r.Block.Input + 1)
		}
		if err == nil {
			made, err = rowOf(r.Document, r.Line, count)
		}
		if err == nil {
			buf, err = report.AppendJSON(buf[:0], made)
		}
		if err == nil {
			err = out.WriteRecord(append(buf, '\n'))
		}
		if err != nil {
			return fmt.Errorf("writing attributes: %w", err)
		}
	}
	if err := begin(len(names)); err != nil {
		return fmt.Errorf("writing attributes: %w", err)
	}
	return out.Close()
}
