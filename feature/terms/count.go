package terms

import "slices"

// A Counter counts the documents in which terms stand, one document after the other. Its zero value
// is ready. It holds some 200 MiB at most, however many terms there are. By lossy counting (Manku,
// Motwani, "Approximate Frequency Counts over Data Streams", VLDB 2002) it forgets the rarest when
// it is full. Missed returns how many documents may be missing in a count.
type Counter struct {
	Most      int // terms held, 0 for MaxTerms
	documents uint32
	counted   map[uint64]counted
	missed    uint32
	sorted    []uint64
}

// counted is how often a term was seen since it was last forgotten, and in how many
// documents it may have been before.
type counted struct{ seen, before uint32 }

// AppendDistinct appends terms of a document to those found before. Now and then it leaves out
// repeats, so that a long text takes no more than its distinct terms.
func AppendDistinct(found, more []uint64) []uint64 {
	const often = 1 << 17
	before := len(found) / often
	found = append(found, more...)
	if len(found)/often > before {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found
}

// Add counts a document, whose terms may repeat.
func (c *Counter) Add(terms []uint64) {
	if c.counted == nil {
		c.counted = map[uint64]counted{}
	}
	c.documents++
	c.sorted = append(c.sorted[:0], terms...)
	slices.Sort(c.sorted)
	for _, term := range slices.Compact(c.sorted) {
		n, known := c.counted[term]
		if !known {
			n.before = c.missed
		}
		n.seen++
		c.counted[term] = n
	}
	most := c.Most
	if most == 0 {
		most = MaxTerms
	}
	for len(c.counted) > most {
		c.forget()
	}
}

// forget raises the possible error of counts by one document, and forgets the terms that cannot
// be in more.
func (c *Counter) forget() {
	c.missed++
	for term, n := range c.counted {
		if n.seen+n.before <= c.missed {
			delete(c.counted, term)
		}
	}
}

// Documents is how many were counted.
func (c *Counter) Documents() uint32 { return c.documents }

// Missed is the number of documents by which a count may be too low. A term not held stands in at
// most that many: 0 while nothing was forgotten.
func (c *Counter) Missed() uint32 { return c.missed }

// Table is the table of the terms that stand in at least so many documents, as counted.
func (c *Counter) Table(least uint32) *Table {
	var hashes []uint64
	for term, n := range c.counted {
		if n.seen >= least {
			hashes = append(hashes, term)
		}
	}
	slices.Sort(hashes)
	counts := make([]uint32, len(hashes))
	for i, term := range hashes {
		counts[i] = c.counted[term].seen
	}
	return newTable(c.documents, hashes, counts)
}
