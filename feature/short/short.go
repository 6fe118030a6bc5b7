// Package short finds copies of short texts by keys, and decides on their words: posts, titles, records,
// sentences, log lines.
//
//	m := short.NewMaker()
//	m.Extract(text)
//	keys, record := m.AppendKeys(nil), m.AppendRecord(nil)
//
//	var j short.Judge
//	err := j.Load(record)
//	found, err := j.Compare(earlier, 0.6) // a record whose text has a key in common
//
// The core of a text is what is left without links, #tags#, [emoji] and marks of forwards, or the whole
// text if nothing is left. Its words are those of the canonical form, folded by package fold, without
// commas and apostrophes. The signs of C++ and C# belong to their names. A Han character, a Hangul
// syllable and a letter of Thai and the like are a word each, since writers do not agree on the spaces
// there. The record holds the words.
//
// The keys are the least hashes of runs of words of at least eight columns.
//
// The words of two texts are aligned by a longest common subsequence. Between the words in common are
// hunks: words put in, left out or replaced, within or at an end. A hunk of equal letters is no
// difference, since only spaces differ. A word of five letters and more with one wrong behind the first is
// a slip; it counts half. A word that only stands elsewhere counts once. A character in common between hunks
// of at least twice its width is one by chance: the hunks are one. The later text is a copy unless
//
//   - numbers differ: both texts have numbers that the other lacks, or one has and the text is not edited;
//   - one text has more negations;
//   - a word stands for another in a text that is not edited. One wrong character in twelve words may,
//     but not one numeral or opposite for another;
//   - a passage is new: a hunk is wider than a fifth of the narrower text, and than 16 columns. If the
//     later text ends in an ellipsis, up to half of the earlier one may be cut off instead;
//   - more differs than half of what the narrower text has beyond 16 columns, than 32 columns and a
//     fifth of it, or than the threshold lets.
//
// A text is edited if, within it, words are put in or left out at one place and replaced at another.
// Templates filled otherwise only have words replaced. With three places of both kinds the text is
// rewritten, and may also differ in numbers and negations.
//
// Records and keys depend on these rules, the tables of packages canon and fold, and nothing else.
package short

import (
	"github.com/firstseen/firstseen/feature/canon"
)

const (
	// MaxUnits is the maximum number of units of a short text, as package canon counts them.
	MaxUnits = 160

	// MaxKeys is the maximum number of keys of a text.
	MaxKeys = 8

	keyColumns = 8 // the least width of the run behind a key
)

// A Maker makes keys and records of texts. It is for one goroutine.
type Maker struct {
	scanner *canon.Scanner
	core    []byte
	words   words
	keys    [MaxKeys]uint64
	n       int
}

// NewMaker returns a Maker.
func NewMaker() *Maker {
	m := &Maker{scanner: canon.NewScanner()}
	m.scanner.KeepLong()
	return m
}

// Extract reads a text of at most MaxUnits units.
func (m *Maker) Extract(text []byte) {
	m.core = appendCore(m.core[:0], text)
	m.read(m.core)
	if len(m.words.list) == 0 && len(m.core) != len(text) {
		m.read(text)
	}
	if m.words.full {
		m.words.reset()
	}
	m.findKeys()
}

func (m *Maker) read(text []byte) {
	m.words.reset()
	s := m.scanner
	s.Reset(text)
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			m.words.addForm(s.Form())
		}
	}
	m.words.cut = isCut(text)
}

// findKeys finds the least hashes of runs.
func (m *Maker) findKeys() {
	m.n = 0
	w := &m.words
	for i := range w.list {
		h, columns, j := uint64(0), 0, i
		for ; j < len(w.list) && columns < keyColumns; j++ {
			h = mix(h, w.list[j].hash)
			columns += w.columns(w.list[j])
		}
		if columns < keyColumns {
			break
		}
		m.addKey(h)
	}
}

func (m *Maker) addKey(h uint64) {
	at := m.n
	for at > 0 && m.keys[at-1] >= h {
		at--
	}
	if at < m.n && m.keys[at] == h || at == MaxKeys {
		return
	}
	m.n = min(m.n+1, MaxKeys)
	copy(m.keys[at+1:m.n], m.keys[at:])
	m.keys[at] = h
}

// AppendKeys appends the up to MaxKeys least hashes of the runs of the text last extracted, distinct and
// ascending. They are not keyed.
func (m *Maker) AppendKeys(dst []uint64) []uint64 { return append(dst, m.keys[:m.n]...) }

// AppendRecord appends the record of the text last extracted. A text without words has an empty one.
func (m *Maker) AppendRecord(dst []byte) []byte { return m.words.appendRecord(dst) }
