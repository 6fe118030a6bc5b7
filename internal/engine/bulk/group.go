package bulk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// A batch has the documents of a piece that have a marked key. They are decided together. Its
// buffers are used again.
type batch struct {
	places []Place  // the marks of the piece
	keys   []uint64 // of all documents of the piece, concatenated
	marked []bool   // parallel to keys
	ends   []int    // of each document in keys

	docs     []Doc // with a marked key
	features []feature.Feature
	names    []uint64 // of their keys in the table, concatenated
	group    dedup.Group
	results  []decided
}

type decided struct {
	*dedup.Result
	report.Fate
}

// A name of a key in the table. Those below unmarked are of keys without a mark. They differ within a
// group, are never stored, and never found.
const unmarked = 1 << 32

// nameOf returns the name of a marked key. A whole text's key may be any number.
func nameOf(key uint64) uint64 {
	if key < unmarked {
		key ^= mixer
	}
	return key
}

// takeMarks reads the marks of a piece, before the piece is filled.
func (w *decider) takeMarks(p *piece) error {
	p.batch.places = p.batch.places[:0]
	for end := p.owner + Place(p.documents<<slotBits); w.places.some && w.places.next < end; {
		place := w.places.next
		if err := w.places.advance(); err != nil {
			return err
		}
		if place < p.owner {
			return noPlace(place)
		}
		p.batch.places = append(p.batch.places, place)
	}
	return nil
}

func noPlace(p Place) error { return fmt.Errorf("%w: there is no place %v", ErrMarks, p) }

// fill reads the documents of a piece, and prepares those with a mark to be decided.
func (b *batch) fill(m *Manifest, p *piece) error {
	b.keys, b.marked, b.ends = b.keys[:0], b.marked[:0], b.ends[:0]
	b.docs, b.features, b.names = b.docs[:0], b.features[:0], b.names[:0]
	places := b.places
	err := p.each(func(owner Place, record []byte) error {
		rest, err := p.doc.readKeys(record)
		if err != nil {
			return err
		}
		n, from, some := len(p.doc.keys), len(b.keys), false
		b.keys, b.marked = append(b.keys, p.doc.keys...), append(b.marked, make([]bool, n)...)
		b.ends = append(b.ends, len(b.keys))
		for ; len(places) > 0 && places[0].owner() == owner; places = places[1:] {
			if places[0].slot() >= n {
				return noPlace(places[0])
			}
			b.marked[from+places[0].slot()], some = true, true
		}
		if !some { // no other document shares a key
			return nil
		}
		return b.add(m, &p.doc, rest, b.marked[from:])
	})
	b.group.Reset()
	names := b.names
	for i := range b.docs {
		doc, n := &b.docs[i], len(b.docs[i].Sketch.Features)+1
		b.group.Add(dedup.Document{ID: string(doc.ID), Sketch: &doc.Sketch, Keys: names[:n:n]})
		names = names[n:]
	}
	b.group.Link()
	return err
}

// add reads the rest of a document with a mark.
func (b *batch) add(m *Manifest, keys *Doc, rest fields.Reader, marked []bool) error {
	at, n := len(b.features), len(keys.keys)-1
	b.features = slices.Grow(b.features, n)[:at+n]
	doc := Doc{keys: keys.keys, Sketch: feature.Sketch{Features: b.features[at : at : at+n]}}
	if err := doc.readRest(rest); err != nil {
		return err
	}
	for slot, key := range doc.keys {
		name := uint64(len(b.names))
		if marked[slot] {
			name = nameOf(key)
		}
		b.names = append(b.names, name)
	}
	doc.keys = nil // a buffer
	b.docs = append(b.docs, doc)
	_, err := m.fileOf(&doc)
	return err
}

// A decider decides the pieces of all shards in order.
type decider struct {
	*Decision
	offer   func(component uint32, m report.Member)
	fate    func(component uint32) (bool, report.Fate)
	places  *marks
	deduper *dedup.Deduper
	pool    dedup.Pool
	sample  *sample
	lines   []lines
	kept    []keptDoc // by number, if documents are offered
}

type keptDoc struct {
	file    string
	at      corpus.Place
	made    time.Time
	offered bool
}

// decide decides the documents of a piece.
func (w *decider) decide(m *Manifest, p *piece) error {
	b := &p.batch
	checked := make(chan error, 1)
	go func() { checked <- w.sample.checkAll(p.owner, b) }()
	num := uint32(len(w.table.docs))
	decided := w.decideAll(b)
	if err := cmp.Or(<-checked, decided); err != nil {
		return err
	}
	w.Marked += uint64(len(b.places))
	for range len(b.ends) - len(b.docs) {
		w.Tally.Count(&dedup.Result{Kept: true})
	}
	for i := range b.results {
		r, doc := &b.results[i], &b.docs[i]
		component := r.Of.Num // the number of the kept document it copies, or 0
		if r.Kept || r.Counted {
			num++
		}
		if r.Kept {
			component = num // its own
		}
		if w.offer != nil {
			w.offerCopy(m.Inputs[doc.Input].Name, doc, r.Result, num)
		}
		if w.fate != nil && component != 0 {
			r.Result.Kept, r.Fate = w.fate(component)
		}
		w.Tally.Count(r.Result)
	}
	if w.Line == nil {
		return nil
	}
	return w.write(m, b)
}

// Decide decides a document by a sketch that another process made. A judge panics on data that its
// method does not write, as a later version may. Decide returns an error instead.
func Decide(d *dedup.Deduper, doc dedup.Document) (r dedup.Result, err error) {
	defer guard(&err)
	return d.Decide(doc)
}

// guard turns the panic of a judge into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w; %v", errRecord, p)
	}
}

// decideAll is Decide for the documents of a batch.
func (w *decider) decideAll(b *batch) (err error) {
	errs := make([]error, w.pool.Size)
	pool := dedup.Pool{Size: w.pool.Size, Run: func(tasks int, f func(worker, task int)) {
		w.pool.Run(tasks, func(worker, task int) {
			defer guard(&errs[worker])
			f(worker, task)
		})
	}}
	b.results = append(b.results[:0], make([]decided, len(b.docs))...)
	defer guard(&err)
	err = w.deduper.DecideAll(&b.group, pool, func(_, i int, r *dedup.Result, _ []int) { b.results[i].Result = r })
	return cmp.Or(cmp.Or(errs...), err)
}

// offerCopy remembers a kept document, or offers a copy. num is the number of documents in the table.
func (w *decider) offerCopy(file string, doc *Doc, r *dedup.Result, num uint32) {
	own := keptDoc{file: file, at: doc.At, made: doc.Time}
	if len(w.kept) < int(num) {
		w.kept = append(w.kept, own)
	}
	if r.Kept || r.Of.Num == 0 {
		return
	}
	offer := func(id string, d *keptDoc) {
		m := report.Member{Survivor: report.Survivor{ID: id, File: d.file, Line: d.at}}
		m.Group, m.Rank = w.Prefer(d.file, d.made)
		w.offer(r.Of.Num, m)
	}
	if first := &w.kept[r.Of.Num-1]; !first.offered {
		first.offered = true
		offer(r.Of.ID, first)
	}
	offer(string(doc.ID), &own)
}

// linesTask is the number of documents whose lines one task renders.
const linesTask = 64

// lines has the report lines of some documents.
type lines struct {
	bytes.Buffer
	ends []int
	err  error
}

// write renders the lines of a batch at the same time, and writes them in order.
func (w *decider) write(m *Manifest, b *batch) error {
	tasks := (len(b.docs) + linesTask - 1) / linesTask
	for len(w.lines) < tasks {
		w.lines = append(w.lines, lines{})
	}
	w.pool.Run(tasks, func(_, task int) {
		w.lines[task].render(m, b, task*linesTask, min((task+1)*linesTask, len(b.docs)))
	})
	for i := range w.lines[:tasks] {
		l, at := &w.lines[i], 0
		if l.err != nil {
			return l.err
		}
		for _, end := range l.ends {
			if err := w.Line(l.Bytes()[at:end]); err != nil {
				return err
			}
			at = end
		}
	}
	return nil
}

// render renders the lines of documents from one to before another.
func (l *lines) render(m *Manifest, b *batch, from, to int) {
	l.Reset()
	l.ends = l.ends[:0]
	out := json.NewEncoder(l)
	out.SetEscapeHTML(false)
	for i := from; i < to && l.err == nil; i++ {
		r, doc := &b.results[i], &b.docs[i]
		if r.Verdict == dedup.Unique && r.Kept && r.Copies == 0 {
			continue
		}
		id := b.group.Document(i).ID
		line := report.First(id, m.Inputs[doc.Input].Name, doc.At, doc.Time)
		if r.Verdict != dedup.Unique {
			place := line
			line = report.Report(r.Result, id, &doc.Sketch, nil)
			line.File, line.Line, line.Time = place.File, place.Line, place.Time
		}
		line.Kept, line.Fate, line.Shard = r.Kept, r.Fate, m.Shard
		l.err = out.Encode(&line)
		l.ends = append(l.ends, l.Len())
	}
}
