package oracle

import (
	"encoding/binary"
	"slices"

	"github.com/firstseen/firstseen/feature"
)

// The second stage: rules 12 to 14.

// comparedWith implements rule 12.
func (o *Oracle) comparedWith(d document, c *claim) bool {
	byCommon := c.withCommon > c.weight && 2*c.withCommon >= d.size
	byKeys := c.runKeys >= 2 || c.countedKey > 0 && c.runKeys+c.countedKey >= 3
	if isFifth(c.weight, d.size) || byKeys || byCommon || o.reaches(quotient(c.weight, d.size)) {
		return true
	}
	for n := fewest; n < len(d.features); n++ {
		var weight int64
		for _, i := range c.shared {
			if i < n {
				weight += o.weight(d.features[i])
			}
		}
		if o.reaches(quotient(weight, o.size(d.features[:n]))) {
			return true
		}
	}
	return false
}

func isFifth(weight, whole int64) bool { return weight > 0 && 5*weight >= whole }

// removalBySketch implements rules 12 to 14.
func (o *Oracle) removalBySketch(d document, c *claim) float64 {
	t := o.rules.Threshold
	if !c.compared {
		return -1
	}
	score := c.longer
	if c.contained >= .8 && o.reaches(c.contained) {
		score = c.contained
	}
	common := quotient(o.common(d), d.size)
	asked := max(t, .8)
	if isFifth(c.weight, d.size) || c.runKeys >= 3 {
		asked = min(common+float64((1-common)*t), asked)
	}
	if kept := c.withCommon - c.counted; kept > c.weight && 2*kept >= d.size {
		asked = t
	}
	if score >= asked {
		if c.new = o.newPassage(d, c); c.new.To == 0 {
			return score
		}
	}
	return o.removalOutsideCommon(d, c)
}

// uncertain returns the reduction of rule 13 beside a document two to four times as long.
func (o *Oracle) uncertain(d document, c *claim) float64 {
	times := quotient(o.docs[c.num-1].distinct, d.distinct)
	return float64(.075 * (times - 2))
}

// containedInLonger reports whether sketches find d in a document two to four times as long.
func (o *Oracle) containedInLonger(d document, c *claim) bool {
	asked := max(o.rules.Threshold, .8)
	var all int64
	for _, f := range c.comparable {
		all += o.weight(f)
	}
	nearlyAll := len(c.comparable) >= fewest && 10*c.over >= 9*all
	return c.told-o.uncertain(d, c) >= asked || c.told >= asked && nearlyAll
}

// newPassage returns the longest passage of d missing entirely from the candidate (rule 13).
func (o *Oracle) newPassage(d document, c *claim) (longest feature.Passage) {
	e := o.docs[c.num-1]
	var bins []int // of d, in text order
	for bin := range d.places {
		bins = append(bins, bin)
	}
	slices.SortFunc(bins, func(a, b int) int { return int(d.places[a] - d.places[b]) })
	held := func(i int) (n int) { // bins that hold in the window beginning with the i-th
		for _, bin := range bins[i : i+10] {
			if d.sketch[bin] == e.sketch[bin] {
				n++
			}
		}
		return n
	}
	var width int64 // of the longest, doubled
	for i := 0; i+10 <= len(bins); {
		if held(i) > 2 {
			i++
			continue
		}
		first, last := i, i+9
		for i++; i <= last && i+10 <= len(bins); i++ {
			if held(i) <= 2 {
				last = i + 9
			}
		}
		i = last + 1
		from, to := int64(0), 2*d.runs
		p := feature.Passage{From: 0, To: uint64(d.runs) + 4, Of: uint64(d.runs) + 4}
		if first > 0 {
			from = d.places[bins[first-1]] + d.places[bins[first]] + 1
			p.From = uint64(from+5) / 2
		}
		if last+1 < len(bins) {
			to = d.places[bins[last]] + d.places[bins[last+1]] + 1
			p.To = uint64(to+5) / 2
		}
		if last-first+1 >= 24 && 4*(to-from) > 2*d.runs && to-from > width {
			longest, width = p, to-from
		}
	}
	return longest
}

// removalOutsideCommon implements rule 14.
func (o *Oracle) removalOutsideCommon(d document, c *claim) float64 {
	var uncommon int64
	for _, f := range d.features {
		if !o.isCommon(f.Key) {
			uncommon += o.weight(f)
		}
	}
	e := o.docs[c.num-1]
	score := quotient(c.weight, uncommon)
	var shared int64
	for _, i := range c.shared {
		shared += o.size(d.features[i : i+1])
	}
	known := o.common(d) + shared
	enough := 8*o.common(d) >= d.size && len(c.shared) >= 10 && o.reaches(score) && quotient(known, d.size) >= .72 && quotient(known, d.distinct) >= .4
	bySketch := 5*c.contained >= 1 && c.contained*float64(d.distinct) >= .6*float64(shared)
	if enough && bySketch && 5*min(d.distinct, e.distinct) >= 4*max(d.distinct, e.distinct) {
		return score
	}
	return -1
}

// common returns the size of the common segments.
func (o *Oracle) common(d document) (size int64) {
	for _, f := range d.features {
		if o.isCommon(f.Key) {
			size += o.size([]feature.Feature{f})
		}
	}
	return size
}

// readSketch reads a sketch of a text's runs, as described in docs/format.md. It begins with the
// number of runs. For twenty or more it has a number from 1 to 15 for each of 128 bins, or 0 for
// none. Then come the number of distinct runs, if different, and each filled bin's place.
func readSketch(data []byte) (runs, distinct int64, bins []int, places map[int]int64) {
	if len(data) == 0 {
		return 0, 0, nil, nil
	}
	runs, data = number(data)
	if runs < fewestRuns {
		return runs, runs, nil, nil
	}
	half := func(from, i int) int { return int(data[from+i/2]) >> (i % 2 * 4) & 15 }
	end := 16 + (int(data[0])+1)/2
	filled := int(data[0])
	data = data[1:]
	whole := end >= 64
	if whole {
		end = 64
	}
	rest := data[end:]
	at := max(len(rest)-4*filled, 0)
	if len(rest) < 4*filled { // a sketch made by a caller has no places
		at = len(rest)
	}
	if distinct = runs; at > 0 {
		distinct, _ = number(rest)
	}
	bins, places = make([]int, 128), map[int]int64{}
	filled = 0
	for i := range bins {
		switch {
		case whole:
			bins[i] = half(0, i)
		case data[i/8]>>(i%8)&1 == 1:
			bins[i] = half(16, filled)
			filled++
		}
		if bins[i] > 0 && len(rest) > at {
			places[i] = int64(binary.LittleEndian.Uint32(rest[at+4*len(places):]))
		}
	}
	return runs, distinct, bins, places
}

// number reads a uvarint and returns the rest.
func number(data []byte) (n int64, rest []byte) {
	at, shift := 0, 0
	for more := true; more; at++ {
		n |= int64(data[at]&0x7f) << shift
		shift += 7
		more = data[at] >= 0x80
	}
	return n, data[at:]
}

// estimate does the arithmetic of rule 13 as one fraction. It returns the share of d in e, and the
// common share of the longer one.
func estimate(d, e document) (contained, longer float64) {
	var raw, both, either int64
	for i, x := range d.sketch {
		y := e.sketch[i]
		if x != 0 || y != 0 {
			either++
		}
		if x != 0 && y != 0 {
			both++
			if x == y {
				raw++
			}
		}
	}
	above := max(15*raw-both, 0) // J is above / (14 either)
	share := func(of int64) float64 {
		return min(quotient(above*(d.distinct+e.distinct), (14*either+above)*of), 1)
	}
	return share(d.distinct), share(max(d.distinct, e.distinct))
}
