// Package dedup decides, for every document of a stream, whether it was seen
// before and in which earlier document.
//
// A [Deduper] takes documents one at a time, in order, and keeps what it has
// seen in a filter and a [Table]. Decisions depend on the documents and their order alone: not on the
// number of workers, on the filter's false positives, nor on how the table is
// laid out. The rules are those of docs/design.md, "The decision".
package dedup

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

// Rules are the choices behind a decision. The zero value is the default.
type Rules struct {
	// Threshold is the share, above 0 and at most 1, of a document's text
	// that one earlier document must hold for it to be a duplicate; 0 means
	// DefaultThreshold, or DefaultFilterThreshold without a table.
	Threshold float64
	// Score says what the share is a share of.
	Score Score
	// RemoveMosaics removes documents assembled from several earlier ones.
	RemoveMosaics bool
}

// The thresholds where none is given. Without a table nobody checks that the
// segments seen come from one document, so more of them must have been.
const (
	DefaultThreshold       = 0.5
	DefaultFilterThreshold = 0.8
)

func (r Rules) withDefaults(filterOnly bool) (Rules, error) {
	switch {
	case r.Threshold == 0 && filterOnly:
		r.Threshold = DefaultFilterThreshold
	case r.Threshold == 0:
		r.Threshold = DefaultThreshold
	}
	if !(r.Threshold > 0 && r.Threshold <= 1) {
		return r, fmt.Errorf("threshold %v: want a share of the text above 0 and at most 1", r.Threshold)
	}
	return r, nil
}

// Table is the side table: it answers which kept documents hold a key. The bbolt
// table of package docmap and the [Memory] of this package are two of them.
type Table interface {
	// Add stores a kept document under all its keys and returns its number,
	// one more than the last. It keeps no reference to d.ID or keys.
	Add(d docmap.Doc, keys []uint64) (uint32, error)
	// Lookup finds for every key the earliest documents holding it, at most
	// docmap.MaxHolders.
	Lookup(keys []uint64, found *docmap.Postings) error
	// Doc returns what is stored of a document.
	Doc(num uint32) (docmap.Doc, error)
}

// Config is what a [Deduper] works with.
type Config struct {
	Scheme feature.Scheme
	Rules  Rules
	// Filter answers at once for most keys that were never seen. Without one
	// the table is asked for every key: the same verdicts, more slowly.
	Filter *bloomstore.Filter
	// Table names the earlier document. Without one, verdicts rest on the
	// filter alone, and name nobody. A nil *docmap.Table is none.
	Table Table
	// Now stamps kept documents; nil means time.Now.
	Now func() time.Time
}

// Deduper judges documents one after another. It is not for concurrent use.
type Deduper struct {
	Cfg       Config
	disk      *docmap.Table // the table, where it is one that can be closed
	judge     judge
	extractor *feature.Extractor
	set       feature.Set
	Keys      []uint64
	ask       []uint64
	Seen      []bool
	counts    Counts
}

// Counts are running totals of a Deduper's work.
type Counts struct {
	// Confirmed and Refuted count the keys for which the table was asked
	// after the filter had said seen. Refuted ones are the filter's false
	// positives.
	Confirmed, Refuted uint64
	// Lookups counts the documents for which the table was asked.
	Lookups uint64
	// Fresh counts the keys of kept documents that the filter had not seen:
	// but for its false positives, the distinct keys in it.
	Fresh uint64
}

// Errors of a Deduper that has lost what it works with.
var (
	errNothing      = errors.New("neither a filter nor a table given")
	errTableClosed  = errors.New("the table was closed: open the index again and make a new Deduper")
	errFilterClosed = errors.New("the filter was closed: open the index again and make a new Deduper, or, if the filter has grown, give the new one to UseFilter")
)

// New checks the configuration and returns a Deduper over its filter and table,
// which remain the caller's to save and close. Once one of them is closed, every
// decision is an error.
func New(cfg Config) (*Deduper, error) {
	disk, ok := cfg.Table.(*docmap.Table)
	if ok && disk == nil {
		cfg.Table = nil // an index without a table has a nil one, which is no nil interface
	}
	if cfg.Filter == nil && cfg.Table == nil {
		return nil, fmt.Errorf("deduplicating: %w", errNothing)
	}
	rules, err := cfg.Rules.withDefaults(cfg.Table == nil)
	if err != nil {
		return nil, err
	}
	cfg.Rules = rules
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	extractor, err := feature.NewExtractor(cfg.Scheme)
	if err != nil {
		return nil, err
	}
	return &Deduper{Cfg: cfg, disk: disk, extractor: extractor, judge: judge{rules: rules}}, nil
}

// See judges a text and, if it is kept, remembers it under id.
func (d *Deduper) See(id string, text []byte) (Result, error) {
	d.extractor.Extract(&d.set, text)
	return d.Decide(id, &d.set)
}

// Decide is See for a document whose features were extracted elsewhere, with the
// Deduper's own scheme.
func (d *Deduper) Decide(id string, set *feature.Set) (Result, error) {
	r, err := d.Check(id, set)
	if err != nil || !r.Kept {
		return r, err
	}
	if err := d.remember(id, set, r.Verdict); err != nil {
		return r, fmt.Errorf("remembering document %q: %w", id, err)
	}
	return r, nil
}

// Check judges a document and remembers nothing.
func (d *Deduper) Check(id string, set *feature.Set) (Result, error) {
	r, err := d.check(set)
	if err != nil {
		return Result{}, fmt.Errorf("judging document %q: %w", id, err)
	}
	r.SameID = r.Of.Num != 0 && r.Of.ID == id
	return r, nil
}

func (d *Deduper) check(set *feature.Set) (Result, error) {
	if err := d.ready(); err != nil {
		return Result{}, err
	}
	if d.Cfg.Table == nil {
		return d.checkFilter(set), nil
	}
	return d.checkTable(set)
}

// ready reports what is missing: a document the filter has not seen would else be
// judged without a word from a table that is gone.
func (d *Deduper) ready() error {
	filter := d.Cfg.Filter
	switch {
	case d.disk != nil && d.disk.Closed():
		return errTableClosed
	case filter != nil && filter.Closed():
		return errFilterClosed
	case filter == nil && d.Cfg.Table == nil:
		return errNothing
	}
	return nil
}

// Counts returns the totals since New.
func (d *Deduper) Counts() Counts { return d.counts }

// UseFilter replaces the filter, by a larger one holding the same keys.
func (d *Deduper) UseFilter(f *bloomstore.Filter) { d.Cfg.Filter = f }

// load brings the document's keys into d.keys, its whole-text fingerprint last,
// and the filter's answers into d.seen.
func (d *Deduper) load(set *feature.Set) {
	d.Keys = d.Keys[:0]
	for i := range set.Features {
		d.Keys = append(d.Keys, set.Features[i].Key)
	}
	d.Keys = append(d.Keys, set.Whole)
	d.askFilter()
	d.judge.load(set)
}

func (d *Deduper) askFilter() {
	if cap(d.Seen) < len(d.Keys) {
		d.Seen = make([]bool, 2*len(d.Keys))
	}
	d.Seen = d.Seen[:len(d.Keys)]
	if d.Cfg.Filter != nil {
		d.Cfg.Filter.Test(d.Keys, d.Seen)
		return
	}
	for i := range d.Seen {
		d.Seen[i] = true
	}
}

func (d *Deduper) checkTable(set *feature.Set) (Result, error) {
	d.load(set)
	n := len(set.Features)
	r := Result{Kept: true, Segments: n, Also: d.judge.also[:0]}
	if d.Seen[n] {
		if done, err := d.findExact(&r); done || err != nil {
			return r, err
		}
	}
	if !d.judge.mayReach(d.Seen) {
		return r, nil
	}
	if err := d.lookup(n); err != nil {
		return r, err
	}
	if err := d.judge.verdict(d.Cfg.Table, &r); err != nil {
		return r, err
	}
	d.judge.also = r.Also
	r.Kept = r.Verdict != Duplicate && !(r.Verdict == Mosaic && d.Cfg.Rules.RemoveMosaics)
	return r, nil
}

// findExact looks for a kept document with the same whole text: the best witness
// there is, found by one key however common the segments. That key may also be
// one of a segment, so what is stored of its holders is compared.
func (d *Deduper) findExact(r *Result) (done bool, err error) {
	n := r.Segments
	found := &d.judge.postings
	if err := d.Cfg.Table.Lookup(d.Keys[n:], found); err != nil {
		return false, err
	}
	d.counts.Lookups++
	docs := found.Docs(0)
	if len(docs) == 0 {
		d.counts.Refuted++
		return false, nil
	}
	d.counts.Confirmed++
	want := stored(d.judge.set)
	for _, num := range docs {
		doc, err := d.Cfg.Table.Doc(num)
		if err != nil {
			return false, err
		}
		if !sameText(&doc, &want) {
			continue
		}
		r.Verdict, r.Kept, r.Exact = Duplicate, false, true
		r.Of = Source{Num: num, ID: doc.ID, Shared: n, Weight: d.judge.whole}
		r.Score, r.Seen = 1, 1
		r.OfSegments, r.Comparable = doc.Features, n
		return true, nil
	}
	return false, nil
}

// stored is what a table keeps of a document's features, beside their keys.
func stored(set *feature.Set) docmap.Doc {
	doc := docmap.Doc{Features: len(set.Features), Whole: set.Whole}
	if set.Truncated {
		last := set.Features[len(set.Features)-1]
		doc.CutWidth, doc.CutKey = last.Width, last.Order
	}
	return doc
}

// sameText compares what is stored of two texts. One comma more changes the number
// of segments, of which a text with few would not be found again by the others.
func sameText(a, b *docmap.Doc) bool {
	few := max(a.Features, b.Features) < minComparable
	return a.Whole == b.Whole && a.CutWidth == b.CutWidth && a.CutKey == b.CutKey && (few || a.Features == b.Features)
}

// lookup asks the table for the first n keys that the filter has seen, and hands
// the answers to the judge. The other keys are absent for certain.
func (d *Deduper) lookup(n int) error {
	j := &d.judge
	j.asked, d.ask = j.asked[:0], d.ask[:0]
	for i := range n {
		if d.Seen[i] {
			j.asked = append(j.asked, i)
			d.ask = append(d.ask, d.Keys[i])
		}
	}
	if err := d.Cfg.Table.Lookup(d.ask, &j.postings); err != nil {
		return err
	}
	d.counts.Lookups++
	for i := range d.ask {
		if len(j.postings.Docs(i)) > 0 {
			d.counts.Confirmed++
		} else {
			d.counts.Refuted++
		}
	}
	return nil
}

// remember enters a kept document into filter and table.
func (d *Deduper) remember(id string, set *feature.Set, v Verdict) error {
	if d.Cfg.Filter != nil {
		d.Cfg.Filter.Add(d.Keys)
	}
	for _, seen := range d.Seen {
		if !seen {
			d.counts.Fresh++
		}
	}
	if d.Cfg.Table == nil {
		return nil
	}
	doc := stored(set)
	doc.ID, doc.Time, doc.Verdict = id, d.Cfg.Now().Unix(), byte(v)
	_, err := d.Cfg.Table.Add(doc, d.Keys)
	return err
}
