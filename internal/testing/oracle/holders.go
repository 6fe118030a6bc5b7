package oracle

import (
	"maps"
	"slices"

	"github.com/firstseen/firstseen/feature"
)

// Remember adds a document as kept, whatever its verdict.
func (o *Oracle) Remember(id string, set *feature.Sketch) { o.add(o.newDocument(id, set)) }

// Count adds a removed document as a holder of its keys (rule 5).
func (o *Oracle) Count(set *feature.Sketch) {
	d := o.newDocument("", set)
	d.counts = true
	o.add(d)
}

func (o *Oracle) add(d document) {
	o.docs = append(o.docs, d)
	for _, key := range d.keys() {
		o.hold(key, len(o.docs))
	}
}

// keys returns all keys that find a document.
func (d *document) keys() []uint64 {
	keys := append([]uint64{d.whole}, d.leads...)
	for _, f := range d.features {
		keys = append(keys, f.Key)
	}
	return keys
}

func (o *Oracle) hold(key uint64, num int) {
	for len(o.under[key]) <= o.slice {
		o.under[key] = append(o.under[key], nil)
	}
	held := &o.under[key][o.slice]
	if len(*held) < common && !slices.Contains(*held, num) {
		*held = append(*held, num)
	}
}

// Forget takes a kept document back by its number (rule 11).
func (o *Oracle) Forget(num int) {
	o.dead[num] = true
	for _, key := range o.docs[num-1].keys() {
		for s, held := range o.under[key] {
			if i := slices.Index(held, num); i >= 0 && len(held) < common {
				o.under[key][s] = slices.Delete(held, i, i+1)
			}
		}
	}
}

// NextSlice lets the next document begin a slice (rule 12).
func (o *Oracle) NextSlice() { o.slice++ }

// Compact opens the closed keys that have no holders left.
func (o *Oracle) Compact() {
	for key := range o.under {
		if len(o.first(key)) == 0 {
			delete(o.under, key)
		}
	}
}

// named returns the kept documents among the first under a key.
func (o *Oracle) named(key uint64) []int {
	return slices.DeleteFunc(o.first(key), func(num int) bool { return o.docs[num-1].counts })
}

// countedAmong reports whether some of the first documents under a key only count.
func (o *Oracle) countedAmong(key uint64) bool { return len(o.named(key)) < len(o.first(key)) }

// first returns the documents that a table names under a key.
func (o *Oracle) first(key uint64) (live []int) {
	for _, held := range o.under[key] {
		live = append(live, o.live(held)...)
	}
	return live[:min(len(live), common)]
}

func (o *Oracle) live(held []int) (live []int) {
	for _, num := range held {
		if !o.dead[num] {
			live = append(live, num)
		}
	}
	return live
}

// isCommon implements rule 5, with rules 11 and 12, for the judged document.
func (o *Oracle) isCommon(key uint64) bool {
	closed := func(held []int) bool { return len(held) == common && len(o.live(held)) > 0 }
	if len(o.named(key)) == 0 {
		return false
	}
	return len(o.first(key)) == common || slices.ContainsFunc(o.under[key], closed)
}

// Clone returns an independent copy.
func (o *Oracle) Clone() *Oracle {
	c := &Oracle{rules: o.rules, docs: slices.Clone(o.docs), under: map[uint64][][]int{}, slice: o.slice, dead: maps.Clone(o.dead)}
	for key, in := range o.under {
		for _, held := range in {
			c.under[key] = append(c.under[key], slices.Clone(held))
		}
	}
	return c
}
