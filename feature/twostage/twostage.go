// Package twostage is the method that decides in two stages. The longest segments of a text, and
// a few of its runs of five words, find the candidates. Sketches of the whole texts then measure
// how alike they are.
//
// Segments alone would have to find much and judge strictly. Here they only name candidates, and
// guard against boilerplate. The rules are those of docs/design.md, "The decision".
//
// A sketch is a one-permutation min-hash (Li, Owen, Zhang, "One Permutation Hashing", NIPS 2012) of
// 128 bins. Four bits of each are kept (b-bit minwise hashing, Li and König, WWW 2010). Words and
// their order in the text count; the ends of lines and sentences do not. No secret enters: whether
// two documents are alike must not depend on one.
package twostage

import (
	"cmp"
	"encoding/binary"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/segments"
)

// minRuns is how many runs a text has at least for a sketch to be made of it. In
// single sentences one word more or less changes half of them.
const minRuns = 20

// keptForRuns is how many of the places of features are for keys of runs, however many
// segments there are: long texts that were edited all over share no segment. Of fewer than
// 30 places it is a tenth.
const keptForRuns = 3

// The limits of the words of passages. A pick stands for 13 words, and passages of so many more are
// certain to have one.
const (
	MinPassage = passages.Run + 1
	MaxPassage = 1000
	// DefaultPassage is usual.
	DefaultPassage = passages.Least
)

// An Extractor makes sketches. It is not for concurrent use: have one for each
// worker.
type Extractor struct {
	segments *segments.Extractor
	runs     *maker
	picker   *passages.Picker // nil if no passages are wanted
	most     int
	keys     []uint64
	form     [9]byte // of a run key: no canonical form of a segment begins with a zero or a one
}

// NewExtractor returns an Extractor for the scheme, which must be valid. Segments says how many
// features there are, those of runs included. minPassage is the fewest words of the passages to
// find, MinPassage to MaxPassage; 0 finds none.
func NewExtractor(s segments.Scheme, minPassage int) *Extractor {
	most := cmp.Or(s.Segments, segments.DefaultSegments)
	s.Segments = most - min(keptForRuns, most/10)
	e := &Extractor{segments: segments.NewExtractor(s), runs: newMaker(), most: most}
	e.segments.Watch(e.runs.Segments)
	if minPassage > 0 {
		e.picker = passages.NewPicker(minPassage)
		e.segments.Watch(func(scanner *canon.Scanner) {
			e.runs.Segments(scanner)
			e.picker.Words(e.runs.Latest())
		})
	}
	return e
}

// Extract overwrites dst with the sketch of text, whatever its bytes.
func (e *Extractor) Extract(dst *method.Sketch, text []byte) {
	e.runs.Reset()
	if e.picker != nil {
		e.picker.Reset()
	}
	data := dst.Data[:0]
	e.segments.Extract(dst, text)
	known := known{runs: uint64(e.runs.Runs())}
	known.distinct = known.runs
	if known.runs >= minRuns {
		known.distinct = uint64(e.runs.Distinct())
		e.runs.Sketch(&known.sketch)
		e.addRunKeys(dst)
	}
	dst.Data = known.append(data)
	if known.runs >= minRuns {
		dst.Data = e.runs.AppendPlaces(dst.Data)
	}
	dst.Picks, dst.PickList, dst.Words = dst.Picks[:0], dst.PickList[:0], 0
	if e.picker != nil {
		e.addPicks(dst)
	}
}

// addPicks makes the keys of picks, and their list. Their domain is the byte 1.
func (e *Extractor) addPicks(dst *method.Sketch) {
	picks := e.picker.Picks()
	e.form[0] = 1
	for i := range picks {
		binary.LittleEndian.PutUint64(e.form[1:], picks[i].Run)
		dst.Picks = append(dst.Picks, e.segments.Key(e.form[:]))
	}
	e.form[0] = 0
	dst.Words = e.picker.Len()
	dst.PickList = passages.AppendList(dst.PickList, picks, dst.Picks)
}

// addRunKeys puts keys of runs into the places that the segments leave free.
func (e *Extractor) addRunKeys(dst *method.Sketch) {
	e.keys = e.runs.AppendKeys(e.keys[:0], min(maxKeys, e.most-len(dst.Features)))
	for _, run := range e.keys {
		binary.LittleEndian.PutUint64(e.form[1:], run)
		dst.Features = append(dst.Features, method.Feature{Key: e.segments.Key(e.form[:]), Order: run})
	}
	dst.Leads = len(e.keys)
}

// known describes a text's runs. It is the end of a document's stored record. Sketch.Data has it
// too and, behind it, the places of the runs in the text.
type known struct {
	runs     uint64
	distinct uint64 // of the runs, as linear counting has it, if runs >= minRuns; else runs
	sketch   sketch // if runs >= minRuns
}

func (k *known) append(b []byte) []byte {
	b = binary.AppendUvarint(b, k.runs)
	if k.runs < minRuns {
		return b
	}
	if b = k.sketch.Append(b); k.distinct < k.runs {
		b = binary.AppendUvarint(b, k.distinct)
	}
	return b
}

// parse reads what append has written, and places behind it, if there are any. Documents of version 0.2
// have no number of distinct runs: it counts as that of all.
func (k *known) parse(b []byte, hasPlaces bool) (places []byte, err error) {
	n := 0
	*k = known{}
	if k.runs, n = binary.Uvarint(b); n <= 0 || k.runs > 1<<40 {
		return nil, errRecord
	}
	k.distinct, b = k.runs, b[n:]
	if k.runs >= minRuns {
		if b, err = k.sketch.Parse(b); err != nil {
			return nil, err
		}
	}
	if hasPlaces {
		at := len(b) - k.sketch.Places()
		if at < 0 && len(b) > 0 {
			return nil, errRecord
		}
		at = max(at, 0)
		b, places = b[:at], b[at:]
	}
	if len(b) == 0 {
		return places, nil
	}
	if k.distinct, n = binary.Uvarint(b); n != len(b) || k.distinct == 0 || k.distinct >= k.runs || k.runs < minRuns {
		return nil, errRecord
	}
	return places, nil
}

// Locate finds a passage in the text it is of: whole pieces between punctuation, from the
// first byte to the one behind the last.
func Locate(text []byte, p method.Passage) (start, end int) {
	s := canon.NewScanner()
	total := uint64(0)
	eachPiece(s, text, func(words uint64) { total += words })
	// Runs leave out words that are symbols alone, which pieces count.
	from, to := p.From*total/max(p.Of, 1), p.To*total/max(p.Of, 1)
	at := uint64(0)
	eachPiece(s, text, func(words uint64) {
		first, behind := s.Range()
		if at <= from {
			start = first
		}
		if at < to {
			end = behind
		}
		at += words
	})
	return s.Trim(text, start, end)
}

// eachPiece calls f with how many words each piece of a text has.
func eachPiece(s *canon.Scanner, text []byte, f func(words uint64)) {
	s.Reset(text)
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			f(uint64(s.Units()))
		}
	}
}
