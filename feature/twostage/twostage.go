// Package twostage is the method that decides in two stages. The longest segments of a text, and a
// few of its runs of five words, find the candidates. Sketches of the whole texts then measure
// their similarity.
//
// Segments alone would have to find much and judge strictly. Here they only name candidates and
// guard against boilerplate. docs/design.md, "The decision", has the rules.
//
// A sketch is a one-permutation min-hash (Li, Owen, Zhang, "One Permutation Hashing", NIPS 2012) of
// 128 bins with four bits each (b-bit minwise hashing, Li and König, WWW 2010). It depends on the
// words and their order, but not on the ends of lines and sentences. It uses no secret: whether two
// documents are alike must not depend on one.
package twostage

import (
	"cmp"
	"encoding/binary"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/segments"
)

// minRuns is the minimum number of runs for a sketch. In a single sentence, one word more or less
// changes half of the runs.
const minRuns = 20

// keptForRuns is the number of features reserved for run keys: long texts edited all over share no
// segment. If there are fewer than 30 features, a tenth is reserved.
const keptForRuns = 3

// The limits of passage lengths in words. A pick covers 13 words, and only longer passages are
// certain to have one.
const (
	MinPassage = passages.Run + 1
	MaxPassage = 1000
	// DefaultPassage is the usual length.
	DefaultPassage = passages.Least
)

// An Extractor makes sketches. It is not safe for concurrent use; each worker needs its own.
type Extractor struct {
	segments *segments.Extractor
	runs     *maker
	picker   *passages.Picker // nil to find no passages
	most     int
	keys     []uint64
	form     [9]byte // of a run key: no segment's canonical form begins with byte 0 or 1
}

// NewExtractor returns an Extractor for the scheme, which must be valid. s.Segments includes the
// run keys. minPassage is the minimum passage length in words, MinPassage to MaxPassage, or 0 to
// find none.
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

// Extract overwrites dst with the sketch of text, which may hold any bytes.
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

// addPicks adds the keys of the picks and their list. The byte 1 separates these keys from others.
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

// addRunKeys adds run keys as features until their number reaches the maximum.
func (e *Extractor) addRunKeys(dst *method.Sketch) {
	e.keys = e.runs.AppendKeys(e.keys[:0], min(maxKeys, e.most-len(dst.Features)))
	for _, run := range e.keys {
		binary.LittleEndian.PutUint64(e.form[1:], run)
		dst.Features = append(dst.Features, method.Feature{Key: e.segments.Key(e.form[:]), Order: run})
	}
	dst.Leads = len(e.keys)
}

// known describes a text's runs. It is the end of a document's stored record. In Sketch.Data the
// runs' places follow.
type known struct {
	runs     uint64
	distinct uint64 // estimate of the distinct runs if runs >= minRuns; else runs
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

// parse reads data written by append, and any places after it. Documents of version 0.2 have no
// number of distinct runs, so it is set to the number of all runs.
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

// Locate returns the byte range of a passage, extended to whole pieces between punctuation.
func Locate(text []byte, p method.Passage) (start, end int) {
	s := canon.NewScanner()
	total := uint64(0)
	eachPiece(s, text, func(words uint64) { total += words })
	// Runs omit words that are only symbols, but pieces count them.
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

// eachPiece calls f with the number of words in each piece of a text.
func eachPiece(s *canon.Scanner, text []byte, f func(words uint64)) {
	s.Reset(text)
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			f(uint64(s.Units()))
		}
	}
}
