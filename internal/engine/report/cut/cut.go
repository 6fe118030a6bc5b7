// Package cut cuts passages out of kept documents. It needs the whole report of their run, which
// shows in how many documents each passage stands.
//
// Passages are cut at the ends of segments, so no word is broken. The earlier document, in which a
// passage was found, keeps it. A passage is cut only if the words of the earlier document were read
// before, are the same, and are written.
package cut

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Kind selects passages.
type Kind string

const (
	// Common passages stand in dedup.MaxHolders documents or more: menus, licences.
	Common Kind = "common"
	// Copied passages stand in fewer documents.
	Copied Kind = "copied"
	All    Kind = "all"
)

// Options holds the user's choices.
type Options struct {
	Remove   Kind // "" only counts
	MinUnits int  // least words of a passage to cut
	KeepCode bool // spare documents in which more than one character in eight is a symbol
	// DropBelow drops cut documents with fewer words left. 0 drops none.
	DropBelow int
}

// A Plan holds the passages of a report, in some 120 bytes each. It is not safe for concurrent use.
type Plan struct {
	options Options
	sources map[string]*source // by id
	traced  map[string][]traced
	text    *units.Text
	starts  []int // start of each word of the text, in characters

	Counts Counts
}

// A source is an earlier document, with its stretches that stand in later ones.
type source struct {
	starts, ends []int // of the passages traced to it, each sorted
	stretches    []stretch
}

// A traced passage names the first document with it. The tenth page of a site may have its menu
// from the third, which has it from the first.
type traced struct {
	start, end           int
	first                *source
	firstStart, firstEnd int
}

// A stretch is the place of a passage in the earlier document, in characters.
type stretch struct {
	start, end int
	sum        uint64 // hash of its words, if the document was written
	stands     bool
}

// Counts counts the work of a Plan.
type Counts struct {
	Documents, Dropped int64
	Words, CutWords    int64 // of all documents, and of the passages cut
	Cut                int64 // passages cut
	// Passages not cut. Unsegmented have no whole segment. Absent have an earlier document that did
	// not come before, has other words, or was dropped.
	Unsegmented, Absent int64
}

// ErrNoPassages is returned for a report without passages, from which nothing is to be cut.
var ErrNoPassages = errors.New("the report has no passages: run firstseen dedup with --passages over these inputs; if it was, nothing is to be cut")

// NewPlan returns the plan of a report. To cut, the report must have passages.
func NewPlan(o Options, report iter.Seq2[*lines.Line, error]) (*Plan, error) {
	p := &Plan{options: o, sources: map[string]*source{}, traced: map[string][]traced{}, text: units.New()}
	some := o.Remove == "" // to cut
	for line, err := range report {
		if err == nil {
			some = some || len(line.Passages) > 0
			err = p.add(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if !some {
		return nil, ErrNoPassages
	}
	for _, s := range p.sources {
		slices.Sort(s.starts)
		slices.Sort(s.ends)
		slices.SortFunc(s.stretches, compareStretches)
		s.stretches = slices.Compact(s.stretches)
	}
	return p, nil
}

func (p *Plan) add(l *lines.Line) error {
	if !l.Kept {
		return nil
	}
	for i := range l.Passages {
		q := &l.Passages[i]
		if q.Start < 0 || q.Start >= q.End || q.Units < 1 || !q.Inner && (q.OfStart < 0 || q.OfStart >= q.OfEnd) {
			return fmt.Errorf("the passages of %q in the report are not in the form that firstseen dedup writes", l.ID)
		}
		if q.Inner {
			continue
		}
		s := p.sources[q.Of]
		if s == nil {
			s = new(source)
			p.sources[q.Of] = s
		}
		s.stretches = append(s.stretches, stretch{start: int(q.OfStart), end: int(q.OfEnd)})
		t := p.trace(q, s)
		t.first.starts, t.first.ends = append(t.first.starts, t.firstStart), append(t.first.ends, t.firstEnd)
		p.traced[l.ID] = append(p.traced[l.ID], t)
	}
	return nil
}

// trace finds the first document with passage q, which stands in s. Lines come in the order of
// documents, so the passages of s are known. One that covers the middle of q leads further back.
func (p *Plan) trace(q *report.Passage, s *source) traced {
	start, end := int(q.OfStart), int(q.OfEnd)
	t := traced{q.Start, q.End, s, start, end}
	middle := start + (end-start)/2
	for _, of := range p.traced[q.Of] {
		if of.start <= middle && middle < of.end {
			shift := of.firstStart - of.start
			t.first, t.firstStart, t.firstEnd = of.first, max(start+shift, of.firstStart), min(end+shift, of.firstEnd)
			t.firstEnd = max(t.firstEnd, t.firstStart+1)
		}
	}
	return t
}

func compareStretches(a, b stretch) int {
	return cmp.Or(a.start-b.start, a.end-b.end)
}

// Documents returns the number of documents with a passage of a document, by the report. They are
// the first document with it, and those with a passage that overlaps its middle there.
func (p *Plan) Documents(id string, q *report.Passage) int {
	for _, t := range p.traced[id] {
		if t.start == q.Start && t.end == q.End {
			middle := t.firstStart + (t.firstEnd-t.firstStart)/2
			begun, _ := slices.BinarySearch(t.first.starts, middle+1)
			over, _ := slices.BinarySearch(t.first.ends, middle+1)
			return 1 + begun - over
		}
	}
	return 2 // the earlier text was not read
}

// A Cut is a passage to cut.
type Cut struct {
	Start, End         int // range of the cut, in bytes of the text
	FirstChar, EndChar int // the same in characters
	Units              int // number of words cut
	Documents          int // number of documents with the passage, the earlier one included
	Passage            *report.Passage
}

// Document returns the cuts of a kept document with its line of the report, or nil. Documents come
// in the order of the run. drop reports that too little is left of the document.
func (p *Plan) Document(id string, text []byte, line *lines.Line) (cuts []Cut, drop bool, err error) {
	own := p.sources[id]
	p.Counts.Documents++
	p.text.Read(text)
	p.Counts.Words += int64(p.text.Len())
	hasPassages := line != nil && len(line.Passages) > 0
	if own == nil && !hasPassages {
		return nil, false, nil
	}
	p.starts = p.starts[:0]
	for i := range p.text.Len() {
		start, _ := p.text.Points(p.text.Range(i, i+1))
		p.starts = append(p.starts, start)
	}
	if hasPassages && !(p.options.KeepCode && isCode(text)) {
		if cuts, err = p.cuts(line); err != nil {
			return nil, false, err
		}
	}
	words := 0
	for i := range cuts {
		words += cuts[i].Units
	}
	if drop = len(cuts) > 0 && p.text.Len()-words < p.options.DropBelow; drop {
		p.Counts.Dropped++
		return cuts, true, nil
	}
	p.Counts.Cut += int64(len(cuts))
	p.Counts.CutWords += int64(words)
	if own != nil {
		p.write(own)
	}
	return cuts, false, nil
}

// write records the words of a written source. Words cut from it stand in an earlier source.
func (p *Plan) write(s *source) {
	for i := range s.stretches {
		if q := &s.stretches[i]; !q.stands {
			if from, to, ok := p.words(q.start, q.end); ok {
				q.sum, q.stands = p.sum(from, to), true
			}
		}
	}
}

// words returns the words from character start to end. ok is false if none begins at start.
func (p *Plan) words(start, end int) (from, to int, ok bool) {
	from, ok = slices.BinarySearch(p.starts, start)
	to, _ = slices.BinarySearch(p.starts, end)
	return from, to, ok && from < to
}

// sum returns a hash of words.
func (p *Plan) sum(from, to int) uint64 {
	h := xxh3.New()
	for i := from; i < to; i++ {
		h.Write(p.text.Form(i))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// cuts returns the passages of the text to cut.
func (p *Plan) cuts(line *lines.Line) (cuts []Cut, err error) {
	for i := range line.Passages {
		q := &line.Passages[i]
		if q.Inner || q.Units < p.options.MinUnits {
			continue
		}
		s := p.sources[q.Of]
		n := p.Documents(line.ID, q)
		if common := n >= dedup.MaxHolders; p.options.Remove == Common && !common || p.options.Remove == Copied && common {
			continue
		}
		from, to, ok := p.words(q.Start, q.End)
		if !ok || to-from != q.Units {
			return nil, fmt.Errorf("the text of %q lacks the passages of its line in the report: give the inputs of that run", line.ID)
		}
		own := stretch{start: int(q.OfStart), end: int(q.OfEnd)}
		at, _ := slices.BinarySearchFunc(s.stretches, own, compareStretches)
		if own = s.stretches[at]; !own.stands || own.sum != p.sum(from, to) {
			p.Counts.Absent++
			continue
		}
		first, behind := p.text.Segments(from, to)
		if first == behind {
			p.Counts.Unsegmented++
			continue
		}
		c := Cut{Units: behind - first, Documents: n, Passage: q}
		c.Start, c.End = p.text.Range(first, behind)
		c.FirstChar, c.EndChar = p.text.Points(c.Start, c.End)
		cuts = append(cuts, c)
	}
	return cuts, nil
}

// codeShare is the least number of characters for each symbol in prose. Code has fewer.
const codeShare = 8

// isCode reports whether a text has so many symbols that it is probably code.
func isCode(text []byte) bool {
	symbols, all := 0, 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if r < utf8.RuneSelf && (unicode.IsSymbol(r) || unicode.IsPunct(r)) && r != '.' && r != ',' && r != '-' {
			symbols++
		}
	}
	return codeShare*symbols > all
}

// A Cutter cuts ranges of their texts out of records.
type Cutter struct {
	cut    func(dst, raw, text []byte, ranges [][2]int, mark bool) ([]byte, error)
	mark   bool
	buf    []byte
	ranges [][2]int
}

// ErrFormat is returned for formats whose records cannot be cut.
var ErrFormat = errors.New("only lines of JSON and Parquet can be cut")

// NewCutter returns a cutter of records. With mark it marks the ranges instead.
func NewCutter(format corpus.Format, mark bool) (*Cutter, error) {
	switch f := format.(type) {
	case jsonl.Format:
		return &Cutter{mark: mark, cut: func(dst, raw, _ []byte, ranges [][2]int, mark bool) ([]byte, error) {
			return f.Cut(dst, raw, ranges, mark)
		}}, nil
	case parquet.Format:
		return &Cutter{mark: mark, cut: f.Cut}, nil
	}
	return nil, ErrFormat
}

// Document returns the record of a kept document without its cuts, or nil if it is not kept. list,
// unless nil, gets each cut.
func (c *Cutter) Document(plan *Plan, list func(id string, q *Cut, dropped bool) error, doc derive.Record) ([]byte, error) {
	if doc.Other || doc.Empty || doc.Line != nil && !doc.Line.Kept {
		return nil, nil
	}
	cuts, drop, err := plan.Document(string(doc.ID), doc.Text, doc.Line)
	if err != nil {
		return nil, err
	}
	c.ranges = c.ranges[:0]
	for i := range cuts {
		q := &cuts[i]
		c.ranges = append(c.ranges, [2]int{q.Start, q.End})
		if list != nil {
			if err := list(string(doc.ID), q, drop); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case drop:
		return nil, nil
	case len(cuts) == 0:
		return doc.Raw, nil
	}
	if c.buf, err = c.cut(c.buf[:0], doc.Raw, doc.Text, c.ranges, c.mark); err != nil {
		return nil, fmt.Errorf("cutting %q: %w", doc.ID, err)
	}
	return c.buf, nil
}
