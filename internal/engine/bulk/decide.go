package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// A Decision decides all documents of a set in order.
type Decision struct {
	Set   []*Manifest
	Marks string // the file of marks; "" and - mean Stdin
	Stdin io.Reader
	Key   []byte // the secret of the scheme, or nil
	Rules dedup.Rules
	Jobs  int // goroutines, at least one; the results are the same for any number
	// Forecast, if not nil, gets the forecast before the first document, unless the marks are
	// compressed or a pipe.
	Forecast func(Forecast)
	// Begin is called before the documents of each shard. Line is called with the report line of
	// each document that is not unique, as JSON. With Prefer, unique documents that were removed or
	// have copies have lines too. Either may be nil.
	Begin func(m *Manifest) error
	Line  func(line []byte) error
	// Prefer, if not nil, returns the group and the rank of a document for [report.Member]. All
	// documents are then decided twice: the first pass finds the copies of each.
	Prefer func(file string, made time.Time) (group string, rank int64)

	Tally  report.Tally
	Marked uint64 // marked places
	table  *table
}

// Check returns ErrMethod for a scheme that cannot be decided from features.
func Check(scheme feature.Scheme) error {
	if scheme.WeighsTerms() {
		return ErrMethod
	}
	return nil
}

// Errors about schemes that cannot be decided from features.
var (
	ErrScheme = errors.New("the features have a scheme that this firstseen does not know, or that needs a secret: give --secret, or make them anew with firstseen bulk features")
	ErrRules  = errors.New("the features were made by rules that this firstseen does not have: extract them again from the documents, under another --out, or use the version that made them")
	ErrMethod = errors.New("features work with the methods segments, exact, bytes and shingles: simhash needs more than equal keys, and imatch a table of terms; use firstseen dedup with an --index")
)

// Run decides all documents. The results are those of one firstseen dedup over the inputs of all
// shards in order.
func (d *Decision) Run(ctx context.Context) error {
	switch f, err := d.Expect(); {
	case errors.Is(err, errTable):
		return err
	case err == nil && d.Forecast != nil:
		d.Forecast(f)
	}
	pool := dedup.NewPool(max(d.Jobs, 1))
	if d.Prefer == nil {
		return d.pass(ctx, pool, nil, nil)
	}
	plan := report.NewSurvivors()
	first := Decision{Set: d.Set, Marks: d.Marks, Key: d.Key, Rules: d.Rules, Prefer: d.Prefer}
	if err := first.pass(ctx, pool, plan.Offer, nil); err != nil {
		return err
	}
	return d.pass(ctx, pool, nil, plan.Ask)
}

// pass decides all documents once, in groups, by the goroutines of a pool. offer gets each copy and, before a component's first, the kept
// document. fate is asked about both, and about kept documents without copies. Both may be nil.
func (d *Decision) pass(ctx context.Context, pool dedup.Pool, offer func(component uint32, m report.Member), fate func(component uint32) (bool, report.Fate)) error {
	table, deduper, err := d.begin()
	if err != nil {
		return err
	}
	d.table = table
	w := &decider{Decision: d, deduper: deduper, pool: pool, offer: offer, fate: fate, sample: newSample()}
	if w.places, err = openMarks(d.Marks, d.Stdin); err != nil {
		return err
	}
	defer w.places.close()
	ring := make([]piece, pool.Size)
	for _, m := range d.Set {
		if d.Begin != nil {
			if err := d.Begin(m); err != nil {
				return err
			}
		}
		err := m.eachPiece(ctx, ring, w.takeMarks, func(p *piece) error { return p.batch.fill(m, p) },
			func(p *piece) error { return w.decide(m, p) })
		if err != nil {
			return err
		}
		w.Tally.Bad += int64(m.Bad)
	}
	if w.places.some {
		return noPlace(w.places.next)
	}
	return w.sample.end()
}

// Scheme returns the scheme of a set with a secret, which may be nil.
func Scheme(set []*Manifest, key []byte) (feature.Scheme, error) {
	name := set[0].Scheme
	scheme, ok := feature.Named(name, key)
	switch {
	case feature.MethodOf(name) == "":
		return scheme, fmt.Errorf("%w: %s", ErrRules, name)
	case !ok:
		return scheme, fmt.Errorf("%w: %s", ErrScheme, name)
	}
	return scheme, Check(scheme)
}

func (d *Decision) begin() (*table, *dedup.Deduper, error) {
	scheme, err := Scheme(d.Set, d.Key)
	if err != nil {
		return nil, nil, err
	}
	table := newTable()
	deduper, err := dedup.New(dedup.Config{Scheme: scheme, Rules: d.Rules, Table: table})
	return table, deduper, err
}

// Bytes returns the approximate memory of the kept documents.
func (d *Decision) Bytes() int64 { return d.table.bytes() }

// A sample compares the marks of some keys with the documents read: if a second document has a key,
// both its places must be marked. This detects lost marks. The sample has all of the first million
// keys, then one in 64 by a hash, and fewer beyond 20 million documents. If the marks of a thousand
// keys are lost, the chance that the sample has none of these is 1 in 7 million.
//
// All marks of a key in MaxHolders or more documents may be left out on purpose.
type sample struct {
	first  map[uint64]Place // first place of each key, with markedBit
	others map[uint64]int   // number of further documents with a key that has no mark
	bits   int              // leading hash bits that are 0 for keys of the sample
	most   int              // largest number of keys
}

const (
	markedBit  = 1 << 63
	sampleBits = 6
	firstKeys  = 1 << 20
	sampleKeys = 16 << 20 // about 800 MB, see sampledBytes
)

func newSample() *sample {
	return &sample{first: map[uint64]Place{}, others: map[uint64]int{}, most: firstKeys}
}

func (s *sample) has(key uint64) bool { return key*0x9e3779b97f4a7c15>>(64-s.bits) == 0 }

// checkAll checks all documents of a batch. owner is the place of the first.
func (s *sample) checkAll(owner Place, b *batch) error {
	from := 0
	for i, end := range b.ends {
		if err := s.check(owner+Place(i<<slotBits), b.keys[from:end], b.marked[from:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// check checks the keys of a document. owner is the place of the first; marked is parallel to keys.
func (s *sample) check(owner Place, keys []uint64, marked []bool) error {
	for slot, key := range keys {
		if !s.has(key) {
			continue
		}
		place := owner + Place(slot)
		first, met := s.first[key]
		switch at := first &^ markedBit; {
		case !met:
			if marked[slot] {
				place |= markedBit
			}
			s.first[key] = place
		case at.owner() == owner: // the whole text of a document may be one of its segments
		case first == at && !marked[slot]:
			s.others[key]++
		case first == at || !marked[slot]:
			return lost(at, fmt.Sprint(place))
		}
	}
	for len(s.first) > s.most {
		if s.bits++; s.most == firstKeys {
			s.bits, s.most = sampleBits, sampleKeys
		}
		for key := range s.first {
			if !s.has(key) {
				delete(s.first, key)
				delete(s.others, key)
			}
		}
	}
	return nil
}

// end checks the keys without any mark, after the last document.
func (s *sample) end() error {
	for key, others := range s.others {
		if others+1 < dedup.MaxHolders {
			return lost(s.first[key], fmt.Sprintf("%d more places", others))
		}
	}
	return nil
}

func lost(at Place, other string) error {
	return fmt.Errorf("%w: marks are missing: one key is at %v and at %s, and not all are marked; make the marks again from all rows", ErrMarks, at, other)
}

// Reports writes the report of a decision to one file, or to a file for each shard in a folder.
type Reports struct {
	name  string         // with a separator at its end for a folder
	out   *output.Writer // the last file; nil for none
	count report.End     // of out
}

// NewReports returns the reports with a name; a separator at its end, or a folder, stands for files.
func NewReports(name string) *Reports { return &Reports{name: name} }

// IsFolder reports whether the name of a report stands for a folder.
func IsFolder(name string) bool {
	info, err := os.Stat(name)
	return strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator)) || err == nil && info.IsDir()
}

// Begin begins the lines of a shard.
func (r *Reports) Begin(m *Manifest) (err error) {
	defer func() {
		r.count.Add(report.End{Documents: int64(m.Documents), Bad: int64(m.Bad), Texts: m.Texts})
	}()
	path := r.name
	if IsFolder(path) {
		if err := errors.Join(r.Close(), os.MkdirAll(path, 0o777)); err != nil {
			return err
		}
		path = filepath.Join(path, Name(m.Shard, m.Of)+".jsonl")
	} else if r.out != nil {
		return nil
	}
	r.out, err = output.Create(path)
	return err
}

// Line writes a line.
func (r *Reports) Line(line []byte) error {
	r.count.Lines++
	return r.out.WriteRecord(line)
}

// Close writes the counts as the last line of a file, and gives the file its name.
func (r *Reports) Close() error {
	if r.out == nil {
		return nil
	}
	if err := json.NewEncoder(r.out).Encode(map[string]report.End{"end": r.count}); err != nil {
		return err
	}
	r.count = report.End{}
	return r.out.Close()
}

// Discard ends an unfinished file without a name.
func (r *Reports) Discard() error { return r.out.Discard() }
