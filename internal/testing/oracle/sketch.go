package oracle

import (
	"encoding/binary"
	"slices"

	"github.com/firstseen/firstseen/feature"
)

// The second stage: rules 8 and 9.

// removalBySketch implements rules 8 and 9.
func (o *Oracle) removalBySketch(d document, c *claim) float64 {
	t := o.rules.Threshold
	score := c.longer
	if c.contained >= .85 && o.reaches(c.contained) {
		score = c.contained
	}
	common := quotient(o.common(d), d.size)
	if score >= min(common+float64((1-common)*t), max(t, .8)) {
		bins, width, p := widestStretch(d, o.docs[c.num-1])
		if bins < 24 || 4*width <= 2*d.runs {
			c.thin = score < .85 && bins >= 16 && 8*width > 2*d.runs
			return score
		}
		c.new = p
	}
	by := o.removalOutsideCommon(d, c)
	if by >= 0 {
		c.new = feature.Passage{}
	}
	return by
}

// widestStretch returns the widest stretch of d that is new compared with e (rule 8): its bins, its
// width in half runs, and its place in letters.
func widestStretch(d, e document) (most int, width int64, widest feature.Passage) {
	var bins []int // of d, in text order
	for bin := range d.places {
		bins = append(bins, bin)
	}
	slices.SortFunc(bins, func(a, b int) int { return int(d.places[a] - d.places[b]) })
	held := func(from, to int) (n int) { // bins that hold
		for _, bin := range bins[from:to] {
			if d.sketch[bin] == e.sketch[bin] {
				n++
			}
		}
		return n
	}
	for i := 0; i+10 <= len(bins); {
		if held(i, i+10) > 2 {
			i++
			continue
		}
		first, last := i, i+9
		for i++; i <= last && i+10 <= len(bins); i++ {
			if held(i, i+10) <= 2 {
				last = i + 9
			}
		}
		i = last + 1
		from, to := int64(0), 2*d.runs
		p := feature.Passage{From: 0, To: uint64(d.runs) + 6, Of: uint64(d.runs) + 6}
		if first > 0 {
			from = d.places[bins[first-1]] + d.places[bins[first]] + 1
			p.From = uint64(from+7) / 2
		}
		if last+1 < len(bins) {
			to = d.places[bins[last]] + d.places[bins[last+1]] + 1
			p.To = uint64(to+7) / 2
		}
		if 5*held(first, last+1) <= last-first+1 && to-from > width {
			most, width, widest = last-first+1, to-from, p
		}
	}
	return most, width, widest
}

// removalOutsideCommon implements rule 9.
func (o *Oracle) removalOutsideCommon(d document, c *claim) float64 {
	var uncommon int64
	for _, f := range d.features {
		if !o.isCommon(f.Key) {
			uncommon += o.weight(f)
		}
	}
	score := quotient(c.weight, uncommon)
	var own []feature.Feature
	for _, i := range c.shared {
		own = append(own, d.features[i])
	}
	known := o.common(d) + o.size(own)
	enough := 12*o.common(d) >= d.size && len(own) >= 10 && o.reaches(score) && quotient(known, d.size) >= .72
	e := o.docs[c.num-1]
	alike := 5*min(d.distinct, e.distinct) >= 4*max(d.distinct, e.distinct)
	if enough && alike && 5*c.contained >= 1 && c.contained*float64(d.distinct) >= .6*float64(letters(own)) {
		return score
	}
	return -1
}

// letters estimates the letters of segments (rule 9).
func letters(features []feature.Feature) (n int64) {
	for _, f := range features {
		n += int64(f.Width)/2 + 2*int64(f.Units)
	}
	return n
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

// readData reads the data of a text beside its segments, as described in docs/format.md: the numbers
// of runs and of distinct ones, the sketch if these are not 0, the words of a short text, and, for
// each filled bin, its run's place.
func (d *document) readData(data []byte) {
	if len(data) == 0 {
		return
	}
	d.runs, data = number(data)
	if d.distinct, data = number(data); d.distinct > 0 {
		d.sketch, data = readSketch(data)
	}
	n, data := number(data)
	d.words, data = data[:n], data[n:]
	d.places = map[int]int64{}
	for bin, v := range d.sketch {
		if v > 0 && len(data) > 0 { // a sketch made by a caller has no places
			d.places[bin], data = int64(binary.LittleEndian.Uint32(data)), data[4:]
		}
	}
}

// readSketch reads the number of each of 128 bins, 1 to 15, or 0 for none. It returns the rest.
func readSketch(data []byte) (bins []int, rest []byte) {
	filled, data := int(data[0]), data[1:]
	half := func(from, i int) int { return int(data[from+i/2]) >> (i % 2 * 4) & 15 }
	end := 16 + (filled+1)/2
	whole := end >= 64
	if whole {
		end = 64
	}
	bins = make([]int, 128)
	filled = 0
	for i := range bins {
		switch {
		case whole:
			bins[i] = half(0, i)
		case data[i/8]>>(i%8)&1 == 1:
			bins[i] = half(16, filled)
			filled++
		}
	}
	return bins, data[end:]
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

// estimate does the arithmetic of rule 8 as one fraction. It returns the share of d in e, and the
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
