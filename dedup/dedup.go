// Package dedup decides, for every document of a stream, whether it was seen before and in which
// earlier document.
//
// A [Deduper] takes documents one at a time, in order, and remembers them in a filter and a
// [Store], the side table. Decisions depend only on the documents and their order. They do not
// depend on the number of workers, the filter's false positives, or the layout of the store.
// docs/design.md, "The decision", has the rules.
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
	"github.com/firstseen/firstseen/internal/base/fields"
)

// RulesVersion counts the changes of the rules in docs/design.md, "The decision". A change of any
// verdict raises it. A program with another version does not continue a run or replay a journal.
const RulesVersion = 3

// Rules are the choices behind a decision. The zero value is the default.
type Rules struct {
	// Threshold is the share of a document's text, above 0 and at most 1, that one earlier document
	// must hold to make it a duplicate. 0 means 0.65, or 0.5 with ScoreSegments, or 0.8 without a
	// table; for another method than the default it means that of feature.Methods.
	Threshold float64
	// Score names the denominator of the share.
	Score Score
	// RemoveMosaics removes documents assembled from several earlier ones.
	RemoveMosaics bool
	// Confirm names the condition for confirming copies, so that runs can check that they use the
	// same one; "" for none. Config.Confirm confirms them.
	Confirm string `json:",omitempty"`
	// RemoveConsumed removes documents with hardly any text of their own: see Result.Consumed.
	RemoveConsumed bool `json:",omitempty"`
	// Verify restricts Config.Confirm to copies that records leave in doubt, not exact copies or
	// those with a sure sketch. The default threshold is then 0.5.
	Verify bool `json:",omitempty"`
}

// The default thresholds. Without a table nothing shows that the segments seen come from one
// document, so more must have been seen.
const (
	defaultThreshold         = 0.65
	defaultSegmentsThreshold = 0.5 // with ScoreSegments
	defaultFilterThreshold   = 0.8
	// defaultVerifyThreshold is low: texts decide, so records only select the texts to read.
	defaultVerifyThreshold = 0.5
)

// WithDefaults returns the rules as a [Deduper] applies them, or an error if the threshold is out
// of range or the method needs a table.
func (r Rules) WithDefaults(s feature.Scheme, filterOnly bool) (Rules, error) {
	info := s.Info()
	if filterOnly && !info.FilterOnly {
		return r, fmt.Errorf("the method %s needs a side table", info.Name)
	}
	switch {
	case r.Threshold == 0 && r.Verify && s.BySegments():
		r.Threshold = defaultVerifyThreshold
	case r.Threshold == 0 && !s.BySegments():
		r.Threshold = cmp.Or(info.Threshold, 1)
	case r.Threshold == 0 && filterOnly:
		r.Threshold = defaultFilterThreshold
	case r.Threshold == 0 && r.Score == ScoreSegments:
		r.Threshold = defaultSegmentsThreshold
	case r.Threshold == 0:
		r.Threshold = defaultThreshold
	}
	if !(r.Threshold > 0 && r.Threshold <= 1) {
		return r, fmt.Errorf("threshold %v: want a share of the text above 0 and at most 1", r.Threshold)
	}
	return r, nil
}

// Config configures a [Deduper].
type Config struct {
	Scheme feature.Scheme
	// Method, if set, replaces the Scheme's method by one of the caller.
	Method method.Method
	Rules  Rules
	// Filter avoids look-ups for most keys that were never seen. Without a filter the table is
	// asked for every key: verdicts are the same but slower.
	Filter *bloomstore.Filter
	// Table names earlier documents. Without a table, verdicts rest on the filter alone and name no
	// document. A nil pointer means no table.
	Table Store
	// Earlier are stores whose documents come before those of Table, as if all were in one store. They
	// and Table must not change or be queried by others meanwhile, and Table must be a [SharedStore].
	// Numbers in results count the earlier documents first.
	Earlier []SharedStore
	// EarlierFilters are the filters of Earlier. They are needed if there is a Filter.
	EarlierFilters []*bloomstore.Filter
	// Now stamps kept documents; nil means time.Now.
	Now func() time.Time
	// Confirm, if set, is called before a document is removed, but not by Check. It needs a table.
	// See [Confirmer].
	Confirm Confirmer
	// Passages, if set, completes the results of kept documents. It needs a table. If
	// Rules.RemoveConsumed is set, the documents of a group are decided one after the other. See
	// [PassageFinder].
	Passages PassageFinder
}

// A Deduper judges documents one after another. It is for one goroutine at a time; DecideAll uses
// several itself.
type Deduper struct {
	cfg       Config
	closer    closer // the table, if it can be closed
	method    method.Method
	extractor method.Extractor
	sketch    feature.Sketch
	neighbors *neighbors // nil for a method that relies on equal keys alone
	single    Group      // of one document
	parallel  parallel
}

type closer interface{ Closed() bool }

// Counts are running totals of a Deduper's work.
type Counts struct {
	// Confirmed and Refuted count the keys seen by the filter and then looked up in the table.
	// Refuted keys are the filter's false positives.
	Confirmed, Refuted uint64
	// Lookups counts the documents looked up in the table.
	Lookups uint64
	// Fresh counts the keys of kept documents that the filter had not seen: except for its false
	// positives, its distinct keys.
	Fresh uint64
}

// Errors of a Deduper with missing or closed parts.
var (
	errNothing       = errors.New("neither a filter nor a table given")
	errUnconfirmable = errors.New("confirming copies by one earlier document needs a table, and mosaics must be kept")
	errConsumed      = errors.New("finding passages in earlier documents needs a table, and removing consumed documents needs finding passages")
	errEarlier       = errors.New("earlier stores need a table that is a SharedStore, and, beside a filter, a filter each")
	errAlone         = errors.New("the documents of a group cannot be decided together: use Decide; see CanDecideAll")
	errUnexplained   = errors.New("explaining a result needs a table")
	errTableClosed   = errors.New("the table was closed: open the index again and make a new Deduper")
	errFilterClosed  = errors.New("the filter was closed: open the index again and make a new Deduper, or, if the filter has grown, give the new one to UseFilter")
)

// New checks the configuration and returns a Deduper over its filter and table. The caller must
// save and close these. Once one of them is closed, every decision is an error.
func New(cfg Config) (*Deduper, error) {
	if v := reflect.ValueOf(cfg.Table); v.Kind() == reflect.Pointer && v.IsNil() {
		cfg.Table = nil // an index without a table has a typed nil pointer
	}
	if cfg.Filter == nil && cfg.Table == nil {
		return nil, fmt.Errorf("deduplicating: %w", errNothing)
	}
	if len(cfg.Earlier) > 0 {
		last, ok := cfg.Table.(SharedStore)
		if !ok || cfg.Filter != nil && len(cfg.EarlierFilters) != len(cfg.Earlier) {
			return nil, errEarlier
		}
		cfg.Table = newStack(cfg.Earlier, last)
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
	d := &Deduper{cfg: cfg, closer: closer, method: m, extractor: m.NewExtractor(), neighbors: neighbors}
	d.parallel.d = d
	d.parallel.addMembers(1)
	return d, nil
}

// See judges a text and, if it is kept, remembers it under id. The result stays valid.
func (d *Deduper) See(id string, text []byte) (Result, error) {
	r, err := d.Decide(Document{ID: id, Text: text})
	return r.Clone(), err
}

// A Document is the input of a decision.
type Document struct {
	ID string
	// Sketch must come from the Deduper's own scheme. If nil, it is extracted from Text, except in
	// a Group.
	Sketch *feature.Sketch
	// Keys, if set, replace those of Sketch in a Group beside a table: of its features and, last, of its
	// whole text.
	Keys []uint64
	// Added is stored with the document if it is kept: fields, as written by AddField.
	Added []byte
	// Time is in Unix seconds, for a [Store] that uses it.
	Time uint32
	// Uncounted keeps the document from counting if it is removed.
	Uncounted bool
	// Text is for Config.Confirm, and for a nil Sketch.
	Text []byte
}

// AddField appends a field to Added, for a [Confirmer]. Fields are in the order of their tags, each at
// most once. docs/format.md, "Data of a document", lists the tags in use.
func (doc *Document) AddField(tag byte, value []byte) {
	doc.Added = fields.Append(doc.Added, tag, value)
}

// A purpose is the extent of a decision. Each includes the previous ones.
type purpose uint8

const (
	checking purpose = iota // nothing changes
	judging                 // copies are confirmed
	deciding                // the document is remembered
)

// Decide judges a document and, if it is kept, remembers it. It allocates nothing for the result,
// which is valid until the next decision; see [Result.Clone].
func (d *Deduper) Decide(doc Document) (Result, error) { return d.decideOne(doc, deciding) }

// Judge is Decide without remembering anything.
func (d *Deduper) Judge(doc Document) (Result, error) { return d.decideOne(doc, judging) }

// Check is Judge without confirming copies.
func (d *Deduper) Check(id string, s *feature.Sketch) (Result, error) {
	return d.decideOne(Document{ID: id, Sketch: s}, checking)
}

func (d *Deduper) decideOne(doc Document, p purpose) (Result, error) {
	if err := d.ready(); err != nil {
		return Result{}, fmt.Errorf("judging document %q: %w", doc.ID, err)
	}
	if doc.Sketch == nil {
		d.extractor.Extract(&d.sketch, doc.Text)
		doc.Sketch = &d.sketch
	}
	keys := appendKeys
	if d.cfg.Table == nil {
		keys = appendFilterKeys
	}
	d.single.set(doc, keys)
	return d.parallel.decideOne(&d.single, p)
}

// Keys returns the keys of the last document that was decided alone: of its features, and last of
// the whole text. They are valid until the next decision.
func (d *Deduper) Keys() []uint64 { return d.single.keys }

// SeenBefore returns, for each of Keys, whether the filter had seen it. It is valid until the next
// decision.
func (d *Deduper) SeenBefore() []bool { return d.parallel.seen }

// ready returns an error if filter or table is missing or closed. Otherwise a document that the
// filter has not seen would be judged without a table.
func (d *Deduper) ready() error {
	filter := d.cfg.Filter
	switch {
	case d.closer != nil && d.closer.Closed():
		return errTableClosed
	case filter != nil && filter.Closed(), slices.ContainsFunc(d.cfg.EarlierFilters, (*bloomstore.Filter).Closed):
		return errFilterClosed
	case filter == nil && d.cfg.Table == nil:
		return errNothing
	}
	return nil
}

// Counts returns the totals since New.
func (d *Deduper) Counts() (c Counts) {
	for _, m := range d.parallel.members {
		c.Confirmed += m.counts.Confirmed
		c.Refuted += m.counts.Refuted
		c.Lookups += m.counts.Lookups
		c.Fresh += m.counts.Fresh
	}
	return c
}

// UseFilter replaces the filter by a larger one with the same keys.
func (d *Deduper) UseFilter(f *bloomstore.Filter) { d.cfg.Filter = f }
