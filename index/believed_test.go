package index

import (
	"maps"
	"slices"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/testing/oracle"
)

// believed is the expected state of an index by the rules of docs/design.md. The oracle gives
// verdicts. Lists hold ids and batches, what was taken back (rule 11), and times (rule 12).
type believed struct {
	oracle *oracle.Oracle
	docs   []believedDoc // kept and remembered, with numbers from 1
	gone   []believedVictim

	clock, edge int64
	begun       int64 // clock at the first document of the slice
	empty       bool  // whether the slice is empty
}

type believedDoc struct {
	id, batch string
	time      int64
	dead      bool // taken back, or once below the edge
	counts    bool // only counts
}

type believedVictim struct {
	of int
	Dependent
}

// arrival is an incoming document.
type arrival struct {
	id, batch string
	set       *feature.Set
	window    int64 // seconds, 0 for none
	time      int64 // the document's time
	replace   bool
}

func newBelieved() *believed {
	return &believed{oracle: oracle.New(dedup.Rules{Threshold: 0.65}), empty: true}
}

func (b *believed) clone() *believed {
	c := *b
	c.oracle, c.docs, c.gone = b.oracle.Clone(), slices.Clone(b.docs), slices.Clone(b.gone)
	return &c
}

// advance applies rule 12 up to the verdict.
func (b *believed) advance(a *arrival) {
	if a.window == 0 {
		return
	}
	b.clock = max(b.clock, a.time)
	step := max(1, a.window/4096)
	b.edge = max(b.edge, (b.clock-a.window)/step*step)
	for i := range b.docs {
		if b.docs[i].time < b.edge {
			b.forget(i + 1)
		}
	}
}

func (b *believed) late(a *arrival) bool { return a.window > 0 && a.time < b.edge }

// judge returns the verdict on a document and remembers the document if it is kept. replaced
// reports whether it took the place of others.
func (b *believed) judge(a *arrival) (r dedup.Result, replaced bool) {
	r = b.oracle.Check(a.id, a.set)
	if b.late(a) {
		return r, false
	}
	if earlier := b.byID(a.id); a.replace && len(earlier) > 0 && !r.Exact {
		without := b.clone()
		for _, num := range earlier {
			without.forget(int(num))
		}
		if r = without.oracle.Check(a.id, a.set); !r.Kept {
			return r, false
		}
		*b, replaced = *without, true
	}
	if r.Kept || r.Counted {
		b.remember(a, r.Counted)
	}
	return r, replaced
}

func (b *believed) remember(a *arrival, counts bool) {
	if !b.empty && a.window > 0 && b.clock-b.begun >= max(1, a.window/8) {
		b.oracle.NextSlice()
		b.empty = true
	}
	if b.empty {
		b.begun, b.empty = b.clock, false
	}
	doc := believedDoc{id: a.id, batch: a.batch, time: a.time, counts: counts}
	if counts {
		b.oracle.Count(a.set)
		doc.id = ""
	} else {
		b.oracle.Remember(a.id, a.set)
	}
	b.docs = append(b.docs, doc)
}

// note records a removed document, once per batch of a witness, as that batch may be cancelled.
func (b *believed) note(a *arrival, r *dedup.Result) {
	if r.Kept {
		return
	}
	sources := r.Also
	if r.Of.Num != 0 {
		sources = []dedup.Source{r.Of}
	}
	noted := map[string]bool{"": true, a.batch: true}
	for _, s := range sources {
		of := b.docs[s.Num-1]
		if !noted[of.batch] {
			noted[of.batch] = true
			b.gone = append(b.gone, believedVictim{int(s.Num), Dependent{ID: a.id, Batch: a.batch, Of: of.id}})
		}
	}
}

// byID returns the numbers of the live documents with an id.
func (b *believed) byID(id string) (nums []uint32) {
	for i := range b.docs {
		if b.docs[i].id == id && !b.docs[i].dead {
			nums = append(nums, uint32(i+1))
		}
	}
	return nums
}

func (b *believed) forget(num int) {
	if !b.docs[num-1].dead {
		b.docs[num-1].dead = true
		b.oracle.Forget(num)
	}
}

// victims returns the documents removed because of live ones of a batch.
func (b *believed) victims(batch string) (list []Dependent) {
	for _, v := range b.gone {
		if of := b.docs[v.of-1]; !of.dead && of.batch == batch {
			list = append(list, v.Dependent)
		}
	}
	return list
}

// batches counts all documents and live ones by batch.
func (b *believed) batches() []docmap.Batch {
	by := map[string]*docmap.Batch{}
	for _, d := range b.docs {
		if by[d.batch] == nil {
			by[d.batch] = &docmap.Batch{Name: d.batch}
		}
		if d.counts {
			continue
		}
		by[d.batch].Documents++
		if !d.dead {
			by[d.batch].Live++
		}
	}
	delete(by, "")
	lines := []docmap.Batch{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, *by[name])
	}
	return lines
}

// cancel takes a batch back. It returns the number of its live documents, and whether it existed.
func (b *believed) cancel(batch string) (live int, any bool) {
	for i := range b.docs {
		d := &b.docs[i]
		if d.batch != batch {
			continue
		}
		if any = true; !d.dead {
			if !d.counts {
				live++
			}
			b.forget(i + 1)
		}
		d.batch = ""
	}
	return live, any
}
