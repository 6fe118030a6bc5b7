package short

// A Difference is a reason why a text is no copy of an earlier one.
type Difference uint8

// The differences; None is that of copies.
const (
	None     Difference = iota
	Numbers             // a number differs
	Negation            // one text denies what the other says
	Word                // a word stands in place of another
	Length              // too much differs
)

// String returns the difference as a word for reports.
func (d Difference) String() string {
	return [...]string{"none", "numbers", "negation", "word", "length"}[d]
}

// A Finding is what a Judge finds about a text and an earlier one.
type Finding struct {
	Copy   bool
	Score  float64    // share of the words of the later text that stand in the earlier one in order, 0 to 1
	Differ Difference // None exactly for a copy
}

// A Judge compares a text with earlier ones, by their records. Its zero value is ready. It is for one
// goroutine.
type Judge struct {
	later, earlier words
	aligner        aligner
	decision       decision
}

// Load reads the record of the later text. An error means that the record is damaged.
func (j *Judge) Load(record []byte) error {
	err := j.later.load(record)
	j.aligner.load(j.later.list)
	return err
}

// Compare compares the text last loaded with an earlier one, by that one's record. A copy has a score of
// at least threshold, 0 to 1. An error means that the record is damaged.
func (j *Judge) Compare(record []byte, threshold float64) (Finding, error) {
	if err := j.earlier.load(record); err != nil {
		return Finding{Differ: Length}, err
	}
	if len(j.later.list) == 0 || len(j.earlier.list) == 0 {
		return Finding{Differ: Length}, nil
	}
	d := &j.decision
	d.reset(&j.later, &j.earlier)
	hunks := j.aligner.align(d.x.list, d.y.list)
	f := Finding{Score: d.score(hunks), Differ: Length}
	if f.Score < threshold {
		return f, nil // seven of eight candidates
	}
	for i := 0; i < len(hunks); {
		h := hunks[i]
		for i++; i < len(hunks) && d.joins(h, hunks[i]); i++ {
			h.x1, h.y1 = hunks[i].x1, hunks[i].y1
		}
		d.add(h)
	}
	if f.Differ = d.verdict(); f.Differ == None && !d.matches(hunks) {
		f.Differ = Word
	}
	f.Copy = f.Differ == None
	return f, nil
}

// A Change is one difference of two texts, in folded words. One of the two may be empty.
type Change struct {
	Later   string `json:"later"`
	Earlier string `json:"earlier"`
}

// Changes lists the differences between the words of two texts, in order, for a person to read.
// Words that are only joined or split are left out.
func Changes(later, earlier []byte) (changes []Change) {
	var a aligner
	x, y := NewMaker(), NewMaker()
	x.Extract(later)
	y.Extract(earlier)
	a.load(x.words.list)
	for _, h := range a.align(x.words.list, y.words.list) {
		xs, ys := x.words.list[h.x0:h.x1], y.words.list[h.y0:h.y1]
		if !sameLetters(&x.words, xs, &y.words, ys) {
			changes = append(changes, Change{x.words.join(xs), y.words.join(ys)})
		}
	}
	return changes
}
