// Package oracle decides literally by docs/design.md, "The decision", rule after rule. It uses only
// slices and maps: no filter, no table, no early answer, and no code of the deduper under test. It
// is slow and plain on purpose. Tests and the bench compare every field of dedup's results with it.
package oracle

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/short"
)

// The numbers in the rules.
const (
	common        = 8 // rule 5: kept documents that make a key common
	boundaryUnits = 2 // rule 3
	listed        = 8 // results: documents in Also
)

// document is the data of a document (rule 5).
type document struct {
	id       string
	counts   bool // it was removed and only counts
	features []feature.Feature
	leads    []uint64 // keys of letters and words
	whole    uint64
	size     int64 // the denominator of rule 3
	runs     int64
	distinct int64         // distinct runs
	sketch   []int         // the number of each bin, 0 for none
	places   map[int]int64 // for each filled bin, its run's place in the text
	words    []byte        // the record of a short text
}

// Oracle is an exact deduper in memory.
type Oracle struct {
	rules dedup.Rules
	docs  []document // in order of arrival; numbers count from 1
	// under has the holders of a key in each slice (rules 11 and 12); if the key is closed there,
	// the eight. Without a window there is one slice.
	under map[uint64][][]int
	slice int          // of the next document
	dead  map[int]bool // documents taken back
}

// New returns an empty oracle. rules.Threshold must be set.
func New(rules dedup.Rules) *Oracle {
	return &Oracle{rules: rules, under: map[uint64][][]int{}, dead: map[int]bool{}}
}

// Decide judges a document and remembers it if it is kept.
func (o *Oracle) Decide(id string, set *feature.Sketch) dedup.Result {
	r := o.Check(id, set)
	switch {
	case r.Kept:
		o.Remember(id, set)
	case r.Counted:
		o.Count(set)
	}
	return r
}

func (o *Oracle) newDocument(id string, set *feature.Sketch) document {
	segments := len(set.Features) - set.Leads
	d := document{id: id, features: slices.Clone(set.Features[:segments]), whole: set.Whole, size: int64(set.Units)}
	for _, f := range set.Features[segments:] {
		d.leads = append(d.leads, f.Key)
	}
	if set.Truncated || o.rules.Score == dedup.ScoreSegments {
		d.size = o.size(d.features)
	}
	d.readData(set.Data)
	return d
}

// Check judges a document without remembering it.
func (o *Oracle) Check(id string, set *feature.Sketch) dedup.Result {
	d := o.newDocument(id, set)
	r := dedup.Result{Kept: true, Segments: len(d.features)}
	if num := o.exact(d); num != 0 {
		n, e := len(d.features), o.docs[num-1]
		r.Verdict, r.Kept, r.Exact, r.Score, r.Seen, r.Contained = dedup.Duplicate, false, true, 1, 1, 1
		r.Of = dedup.Source{Num: uint32(num), ID: e.id, Shared: n, Weight: uint64(d.size)}
		r.OfSegments = len(e.features)
	} else if claims := o.claims(d); !o.single(d, claims, &r) {
		o.together(d, claims, &r)
	}
	r.SameID = r.Of.Num != 0 && r.Of.ID == id
	return r
}

// exact implements rule 2. It returns the number of the witness, or 0.
func (o *Oracle) exact(d document) int {
	for _, num := range o.named(d.whole) {
		e := o.docs[num-1]
		if e.whole == d.whole && e.runs == d.runs && slices.Equal(e.sketch, d.sketch) {
			return num
		}
	}
	return 0
}

// weight implements rule 3.
func (o *Oracle) weight(f feature.Feature) int64 {
	if o.rules.Score == dedup.ScoreSegments {
		return 1
	}
	return max(0, int64(f.Units)-boundaryUnits)
}

func (o *Oracle) size(features []feature.Feature) (size int64) {
	for _, f := range features {
		if o.rules.Score == dedup.ScoreSegments {
			size++
		} else {
			size += int64(f.Units)
		}
	}
	return size
}

// A claim describes the text that an earlier document shares with the judged one.
type claim struct {
	num       int
	shared    []int // positions of shared segments, rule 5
	weight    int64
	leads     int     // shared keys of letters and words that are not common
	score     float64 // rule 3
	compared  bool    // rule 6
	sketched  bool    // rule 8 decides
	contained float64
	longer    float64         // the share of the longer document
	thin      bool            // rule 8: it has a passage of its own
	new       feature.Passage // the passage that prevents a copy
	byWords   *short.Finding  // rule 7, if words decide
}

// claims lists the documents that share a key, in order of arrival.
func (o *Oracle) claims(d document) []claim {
	found := map[int]*claim{}
	of := func(num int) *claim {
		if found[num] == nil {
			found[num] = &claim{num: num}
		}
		return found[num]
	}
	for i, f := range d.features {
		if !o.isCommon(f.Key) {
			for _, num := range o.named(f.Key) {
				c := of(num)
				c.shared = append(c.shared, i)
				c.weight += o.weight(f)
			}
		}
	}
	for _, key := range d.leads {
		if !o.isCommon(key) {
			for _, num := range o.named(key) {
				of(num).leads++
			}
		}
	}
	var claims []claim
	for _, c := range found {
		o.compare(d, c)
		claims = append(claims, *c)
	}
	slices.SortFunc(claims, func(a, b claim) int { return a.num - b.num })
	return claims
}

func (o *Oracle) compare(d document, c *claim) {
	e := o.docs[c.num-1]
	c.score = quotient(c.weight, d.size)
	c.contained = c.score
	if o.rules.Score == dedup.ScoreSegments {
		c.compared = o.reaches(c.score)
		return
	}
	c.compared = c.leads > 0 || c.weight > 0 && (5*c.weight >= d.size || o.reaches(c.score))
	both := d.sketch != nil && e.sketch != nil
	switch {
	case !c.compared:
	case len(d.words) > 0 && len(e.words) > 0 && !both:
		c.byWords = o.judgeWords(d, e)
		c.contained = c.byWords.Score
	case both && e.distinct <= 4*d.distinct:
		c.sketched = true
		c.contained, c.longer = estimate(d, e)
	}
}

// judgeWords implements rule 7. Package short has an oracle of its own.
func (o *Oracle) judgeWords(d, e document) *short.Finding {
	var j short.Judge
	if err := j.Load(d.words); err != nil {
		panic(err)
	}
	f, err := j.Compare(e.words, o.rules.Threshold)
	if err != nil {
		panic(err)
	}
	return &f
}

// quotient implements rule 10: the double nearest to the exact quotient.
func quotient(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	q, _ := big.NewRat(a, b).Float64()
	return q
}

func (o *Oracle) reaches(share float64) bool { return share >= o.rules.Threshold }

// removal implements the first verdict of rule 10. It returns the score, or -1.
func (o *Oracle) removal(d document, c *claim) float64 {
	switch {
	case !c.compared:
		return -1
	case c.byWords != nil && c.byWords.Copy:
		return c.byWords.Score
	case c.byWords != nil:
		return -1
	case c.sketched:
		return o.removalBySketch(d, c)
	case o.reaches(c.score):
		return c.score
	}
	return -1
}

// relation implements the second verdict of rule 10. It returns the share, or -1.
func (o *Oracle) relation(c claim) float64 {
	switch {
	case c.byWords != nil && o.reaches(c.byWords.Score):
		return c.byWords.Score
	case !c.sketched:
		return -1
	case o.reaches(c.contained):
		return c.contained
	case o.reaches(c.score):
		return c.score
	}
	return -1
}

// single gives the verdicts by one document: the first two of rule 10.
func (o *Oracle) single(d document, claims []claim, r *dedup.Result) bool {
	var witness, relation *claim
	var score, share float64
	for i := range claims {
		c := &claims[i]
		if by := o.removal(d, c); by >= 0 && (witness == nil || by > score) {
			witness, score = c, by
		}
		if by := o.relation(*c); by >= 0 && (relation == nil || by > share) {
			relation, share = c, by
		}
	}
	switch {
	case witness != nil:
		r.Verdict, r.Kept, r.Score = dedup.Duplicate, false, score
		r.Counted = witness.thin && !o.countedAmong(d.whole)
		o.name(*witness, claims, r)
	case relation != nil:
		r.Verdict, r.Score, r.New = dedup.Related, share, relation.new
		if relation.byWords != nil {
			r.Differ = relation.byWords.Differ.String()
		}
		o.name(*relation, claims, r)
	default:
		return false
	}
	r.Seen, _ = o.seen(d, claims)
	return true
}

// together gives the verdict by several documents: the third of rule 10.
func (o *Oracle) together(d document, claims []claim, r *dedup.Result) {
	seen, shared := o.seen(d, claims)
	if !o.reaches(seen) {
		return
	}
	r.Verdict, r.Kept, r.Seen = dedup.Mosaic, !o.rules.RemoveMosaics, seen
	r.SharedSegments = shared
	for _, c := range claims {
		r.Score = max(r.Score, c.score)
	}
	r.Contained = r.Score
	r.Also = o.also(claims, 0)
}

// seen returns the share that all documents together hold, and the segments.
func (o *Oracle) seen(d document, claims []claim) (share float64, shared []int) {
	var weight int64
	for i, f := range d.features {
		if slices.ContainsFunc(claims, func(c claim) bool { return slices.Contains(c.shared, i) }) {
			shared = append(shared, i)
			weight += o.weight(f)
		}
	}
	return quotient(weight, d.size), shared
}

func (o *Oracle) name(c claim, claims []claim, r *dedup.Result) {
	r.Of = o.source(c)
	r.OfSegments = len(o.docs[c.num-1].features)
	r.Contained, r.Estimated = c.contained, c.sketched
	r.SharedSegments = c.shared
	r.Also = o.also(claims, c.num)
}

// also lists the other documents, the heaviest first, then the earliest.
func (o *Oracle) also(claims []claim, but int) (also []dedup.Source) {
	others := slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return c.num == but || len(c.shared) == 0 })
	slices.SortStableFunc(others, func(a, b claim) int { return cmp.Compare(b.weight, a.weight) })
	for _, c := range others[:min(listed, len(others))] {
		also = append(also, o.source(c))
	}
	return also
}

func (o *Oracle) source(c claim) dedup.Source {
	return dedup.Source{Num: uint32(c.num), ID: o.docs[c.num-1].id, Shared: len(c.shared), Weight: uint64(c.weight)}
}
