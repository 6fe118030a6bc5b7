// Package dedup decides, for every document of a stream, whether it was seen before and in which
// earlier document.
//
// A [Deduper] takes documents one at a time, in order, and remembers them in a filter and a
// [Store], the side table. Decisions depend on the documents and their order alone. They do not
// depend on the number of workers, the filter's false positives, or the layout of the store. The
// rules are those of docs/design.md, "The decision".
package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// Rules are the choices behind a decision. The zero value is the default.
type Rules struct {
	// Threshold is the share, above 0 and at most 1, of a document's text
	// that one earlier document must hold for it to be a duplicate; 0 means
	// DefaultThreshold, or DefaultFilterThreshold without a table.
	Threshold float64
	// Score names the whole that the share refers to.
	Score Score
	// RemoveMosaics removes documents assembled from several earlier ones.
	RemoveMosaics bool
	// Confirm names the condition by which copies are confirmed, so that runs can check whether
	// theirs is the same; "" for none. Config.Confirm confirms them.
	Confirm string `json:",omitempty"`
	// RemoveConsumed removes documents with hardly anything of their own: see Result.Consumed.
	RemoveConsumed bool `json:",omitempty"`
	// Verify restricts Config.Confirm to copies that records leave in doubt. It is not asked about
	// exact copies, nor if a sketch is sure. The default threshold is DefaultVerifyThreshold.
	Verify bool `json:",omitempty"`
}

// The default thresholds. Without a table, no check shows that the segments seen come from one
// document, so more of them must have been seen.
const (
	DefaultThreshold         = 0.6
	DefaultSegmentsThreshold = 0.5 // with ScoreSegments
	DefaultFilterThreshold   = 0.8
	// With Verify texts decide, so records need only say whose texts to read.
	DefaultVerifyThreshold = 0.5
)

// WithDefaults returns the rules as a [Deduper] applies them, or an error if the threshold is out of range.
func (r Rules) WithDefaults(s feature.Scheme, filterOnly bool) (Rules, error) {
	info := s.Info()
	if filterOnly && !info.FilterOnly {
		return r, fmt.Errorf("the method %s needs a side table", info.Name)
	}
	switch {
	case r.Threshold == 0 && r.Verify && s.BySegments():
		r.Threshold = DefaultVerifyThreshold
	case r.Threshold == 0 && !s.BySegments():
		r.Threshold = cmp.Or(info.Threshold, 1)
	case r.Threshold == 0 && filterOnly:
		r.Threshold = DefaultFilterThreshold
	case r.Threshold == 0 && r.Score == ScoreSegments:
		r.Threshold = DefaultSegmentsThreshold
	case r.Threshold == 0:
		r.Threshold = DefaultThreshold
	}
	if !(r.Threshold > 0 && r.Threshold <= 1) {
		return r, fmt.Errorf("threshold %v: want a share of the text above 0 and at most 1", r.Threshold)
	}
	return r, nil
}

// Config configures a [Deduper].
type Config struct {
	Scheme feature.Scheme
	// Method, if set, takes the place of the Scheme's method: it is one of the caller's own.
	Method method.Method
	Rules  Rules
	// Filter answers at once for most keys that were never seen. Without one
	// the table is asked for every key: the same verdicts, more slowly.
	Filter *bloomstore.Filter
	// Table names the earlier document. Without one, verdicts rest on the filter alone, and name no
	// document. A nil pointer is none.
	Table Store
	// Earlier are the filters of the earlier stores, if Table is a [Stack] and there is a Filter.
	// Nothing is added to them.
	Earlier []*bloomstore.Filter
	// Now stamps kept documents; nil means time.Now.
	Now func() time.Time
	// Confirm, if set, is asked before a document is removed. Deciding asks it; Check does not. It
	// needs a table. See [Confirmer].
	Confirm Confirmer
	// Passages, if set, completes the results of kept documents. It needs a table. A group is then
	// decided one document after the other if Rules.RemoveConsumed is set. See [PassageFinder].
	Passages PassageFinder
}

// Deduper judges documents one after another. It is not for concurrent use.
type Deduper struct {
	Cfg       Config
	closer    closer // the table, if it is one that can be closed
	method    method.Method
	extractor method.Extractor
	sketch    feature.Sketch
	Keys      []uint64 // of the last document that was decided alone
	Seen      []bool
	neighbors *neighbors // nil for a method that finds by equal keys alone
	single    Group      // of one document
	parallel  parallel
}

// A closer is a Store that can be closed.
type closer interface{ Closed() bool }

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

// Errors of a Deduper that has lost its filter or store.
var (
	errNothing       = errors.New("neither a filter nor a table given")
	errUnconfirmable = errors.New("copies are confirmed by one earlier document: that needs a table, and mosaics that are kept")
	errConsumed      = errors.New("passages are found in earlier documents: that needs a table, and finding them to remove what they consume")
	errTableClosed   = errors.New("the table was closed: open the index again and make a new Deduper")
	errFilterClosed  = errors.New("the filter was closed: open the index again and make a new Deduper, or, if the filter has grown, give the new one to UseFilter")
)

// New checks the configuration and returns a Deduper over its filter and table,
// which remain the caller's to save and close. Once one of them is closed, every
// decision is an error.
func New(cfg Config) (*Deduper, error) {
	if v := reflect.ValueOf(cfg.Table); v.Kind() == reflect.Pointer && v.IsNil() {
		cfg.Table = nil // an index without a table has a nil one, which is no nil interface
	}
	if cfg.Filter == nil && cfg.Table == nil {
		return nil, fmt.Errorf("deduplicating: %w", errNothing)
	}
	rules, err := cfg.Rules.WithDefaults(cfg.Scheme, cfg.Table == nil)
	if err != nil {
		return nil, err
	}
	cfg.Rules = rules
	if cfg.Confirm != nil && (cfg.Table == nil || rules.RemoveMosaics) {
		return nil, errUnconfirmable
	}
	if cfg.Passages != nil && cfg.Table == nil || cfg.Passages == nil && rules.RemoveConsumed {
		return nil, errConsumed
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := cfg.Method
	if m == nil {
		if m, err = cfg.Scheme.New(); err != nil {
			return nil, err
		}
	}
	neighbors, err := newNeighbors(m, cfg.Table)
	if err != nil {
		return nil, err
	}
	closer, _ := cfg.Table.(closer)
	d := &Deduper{Cfg: cfg, closer: closer, method: m, extractor: m.NewExtractor(), neighbors: neighbors}
	d.parallel.d = d
	d.parallel.addMembers(1)
	return d, nil
}

// See judges a text and, if it is kept, remembers it under id.
func (d *Deduper) See(id string, text []byte) (Result, error) {
	return d.Decide(Document{ID: id, Text: text})
}

// A Document is the input of a decision.
type Document struct {
	ID string
	// Sketch is extracted with the Deduper's own scheme. If it is nil, the Deduper extracts one from
	// Text.
	Sketch *feature.Sketch
	// Added is stored with the document if it is kept: fields, as AppendField writes them.
	Added []byte
	// Time is stored with the document, by a [Store] that cares: Unix seconds.
	Time uint32
	// Uncounted: if it is removed, it is not remembered, not even to count.
	Uncounted bool
	// Text is for Config.Confirm, and for a missing Sketch.
	Text []byte
}

// A purpose is how far a decision goes; each does what those before it do.
type purpose uint8

const (
	checking purpose = iota // nothing changes
	judging                 // copies are confirmed
	deciding                // the document is remembered
)

// Decide judges a document and, if it is kept, remembers it.
func (d *Deduper) Decide(doc Document) (Result, error) { return d.decideOne(doc, deciding) }

// Judge is Decide without remembering anything.
func (d *Deduper) Judge(doc Document) (Result, error) { return d.decideOne(doc, judging) }

// Check is Judge without confirming copies.
func (d *Deduper) Check(id string, s *feature.Sketch) (Result, error) {
	return d.decideOne(Document{ID: id, Sketch: s}, checking)
}

// decideOne decides a group of one document.
func (d *Deduper) decideOne(doc Document, p purpose) (Result, error) {
	if err := d.ready(); err != nil {
		return Result{}, fmt.Errorf("judging document %q: %w", doc.ID, err)
	}
	if doc.Sketch == nil {
		d.extractor.Extract(&d.sketch, doc.Text)
		doc.Sketch = &d.sketch
	}
	keys := appendKeys
	if d.Cfg.Table == nil {
		keys = appendFilterKeys
	}
	d.single.set(doc, keys)
	r, err := d.parallel.decideOne(&d.single, p)
	d.Keys, d.Seen = d.single.keys, d.parallel.seen
	return r, err
}

// ready reports anything missing. Otherwise a document that the filter has not seen would be judged
// without asking a table that is gone.
func (d *Deduper) ready() error {
	filter := d.Cfg.Filter
	switch {
	case d.closer != nil && d.closer.Closed():
		return errTableClosed
	case filter != nil && filter.Closed(), slices.ContainsFunc(d.Cfg.Earlier, (*bloomstore.Filter).Closed):
		return errFilterClosed
	case filter == nil && d.Cfg.Table == nil:
		return errNothing
	}
	return nil
}

// Counts returns the totals since New.
func (d *Deduper) Counts() (c Counts) {
	for _, m := range d.parallel.members {
		c.add(&m.counts)
	}
	return c
}

// UseFilter replaces the filter, by a larger one holding the same keys.
func (d *Deduper) UseFilter(f *bloomstore.Filter) { d.Cfg.Filter = f }
