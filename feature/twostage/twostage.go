// Package twostage is the method that decides in two stages. The longest segments of a text, and a
// few runs of its letters, find the candidates. Sketches of the whole texts then measure their
// similarity, and the words of short ones.
//
// Segments alone would have to find much and judge strictly. Here they only name candidates and
// guard against boilerplate. docs/design.md, "The decision", has the rules.
//
// A sketch has the least runs of seven letters in 128 bins (package letters), with four bits each
// (b-bit minwise hashing, Li and König, WWW 2010). It uses no secret: whether two documents are
// alike must not depend on one.
package twostage

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/letters"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/segments"
	"github.com/firstseen/firstseen/feature/short"
	"github.com/firstseen/firstseen/internal/base/fields"
)

const (
	// minRuns is the minimum number of runs of letters for a sketch.
	minRuns = 64
	// A text of fewer letters than sketchLetters has no sketch if its words are known: a post of 140
	// Han characters, or 84 English words. Words are kept of somewhat longer texts, too.
	sketchLetters = 420
	wordLetters   = 480
)

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

// The first byte of the forms behind keys that are no segment's: of key runs, picks and words. No
// segment's canonical form begins with these.
const (
	formRun  = 0
	formPick = 1
	formWord = 2
)

// An Extractor makes sketches. It is not safe for concurrent use; each worker needs its own.
type Extractor struct {
	segments *segments.Extractor
	letters  *letters.Maker
	short    *short.Maker
	record   []byte
	picker   *passages.Picker // nil to find no passages
	words    []uint64         // hashes of words, for the picker
	hashes   []uint32         // of all words so far, their lower halves
	places   []canon.Place
	most     int
	keys     []uint64
	form     [9]byte
}

// NewExtractor returns an Extractor for the scheme, which must be valid. s.Segments includes the
// keys of runs. minPassage is the minimum passage length in words, MinPassage to MaxPassage, or 0 to
// find none.
func NewExtractor(s segments.Scheme, minPassage int) *Extractor {
	most := cmp.Or(s.Segments, segments.DefaultSegments)
	s.Segments = most - min(keptForRuns, most/10)
	e := &Extractor{segments: segments.NewExtractor(s), letters: letters.NewMaker(), short: short.NewMaker(), most: most}
	e.segments.Watch(e.letters.Segments)
	if minPassage > 0 {
		e.picker = passages.NewPicker(minPassage)
		e.segments.KeepPlaces()
		e.segments.Watch(func(scanner *canon.Scanner) {
			e.letters.Segments(scanner)
			e.words = scanner.AppendUnits(e.words[:0])
			e.picker.Words(e.words)
			n := len(e.hashes)
			e.hashes = slices.Grow(e.hashes, len(e.words))[:n+len(e.words)]
			lower := e.hashes[n:]
			for i, hash := range e.words {
				lower[i] = uint32(hash)
			}
			e.places = scanner.Places()
		})
	}
	return e
}

// Extract overwrites dst with the sketch of text, which may hold any bytes.
func (e *Extractor) Extract(dst *method.Sketch, text []byte) {
	e.letters.Reset(len(text))
	if e.picker != nil {
		e.picker.Reset()
		e.hashes = dst.Hashes[:0]
	}
	data, before := dst.Data[:0], *dst // whose memory is used again
	e.segments.Extract(dst, text)
	known := known{runs: uint64(e.letters.Runs())}
	if !dst.Truncated && dst.Units <= short.MaxUnits && e.letters.Letters() < wordLetters {
		e.short.Extract(text)
		e.record = e.short.AppendRecord(e.record[:0])
		known.words = e.record
		e.keys = e.short.AppendKeys(e.keys[:0])
		e.addLeads(dst, formWord)
	}
	if len(known.words) == 0 || e.letters.Letters() >= sketchLetters {
		e.addSketch(dst, &known)
	}
	dst.Data = known.append(data)
	if known.sketched() {
		dst.Data = appendPlaces(dst.Data, e.letters)
	}
	dst.Picks, dst.PickList, dst.Words, dst.Hashes, dst.Places = before.Picks[:0], before.PickList[:0], 0, before.Hashes[:0], before.Places[:0]
	if e.picker != nil {
		e.addPicks(dst)
	}
}

// addSketch adds the sketch of a text with enough runs, and the keys of its runs.
func (e *Extractor) addSketch(dst *method.Sketch, k *known) {
	if k.runs < minRuns {
		return
	}
	e.letters.Finish()
	k.distinct = uint64(e.letters.Distinct())
	k.sketch = sketchOf(e.letters)
	e.keys = e.letters.AppendKeys(e.keys[:0], letters.MaxKeys)
	e.addLeads(dst, formRun)
}

// key returns the key of a hash under a form.
func (e *Extractor) key(form byte, hash uint64) uint64 {
	e.form[0] = form
	binary.LittleEndian.PutUint64(e.form[1:], hash)
	return e.segments.Key(e.form[:])
}

// addPicks adds the keys of the picks and their list.
func (e *Extractor) addPicks(dst *method.Sketch) {
	picks := e.picker.Picks()
	dst.Picks = slices.Grow(dst.Picks, len(picks))
	dst.PickList = slices.Grow(dst.PickList, passages.EntryBytes*len(picks))
	for i := range picks {
		dst.Picks = append(dst.Picks, e.key(formPick, picks[i].Run))
	}
	dst.Words = e.picker.Len()
	dst.Hashes, dst.Places = e.hashes, append(dst.Places, e.places...)
	dst.PickList = passages.AppendList(dst.PickList, picks, dst.Picks)
}

// addLeads adds e.keys as features that find candidates, until there are as many as may be.
func (e *Extractor) addLeads(dst *method.Sketch, form byte) {
	for _, hash := range e.keys[:min(len(e.keys), e.most-len(dst.Features))] {
		dst.Features = append(dst.Features, method.Feature{Key: e.key(form, hash), Order: hash})
		dst.Leads++
	}
}

// known describes a text beside its segments. It is the end of a document's stored record. In
// Sketch.Data the places of runs follow.
type known struct {
	runs     uint64
	distinct uint64 // estimate of the distinct runs if there is a sketch, else 0
	sketch   sketch
	words    []byte // the record of a short text by package short, else empty
}

func (k *known) sketched() bool { return k.distinct > 0 }

func (k *known) append(b []byte) []byte {
	b = binary.AppendUvarint(b, k.runs)
	b = binary.AppendUvarint(b, k.distinct)
	if k.sketched() {
		b = k.sketch.Append(b)
	}
	return append(binary.AppendUvarint(b, uint64(len(k.words))), k.words...)
}

// parse parses data written by append and returns the rest of b. The words are a part of b.
func (k *known) parse(b []byte) (rest []byte, err error) {
	in := fields.Reader{Rest: b}
	*k = known{runs: in.Uvarint(), distinct: in.Uvarint()}
	if k.sketched() {
		if in.Rest, err = k.sketch.Parse(in.Rest); err != nil {
			return nil, err
		}
	}
	k.words = in.Bytes()
	if in.Short || k.runs > 1<<40 || k.distinct > k.runs {
		return nil, errRecord
	}
	return in.Rest, nil
}

// same reports whether two texts with one fingerprint are the same. The number of distinct runs is an
// estimate that depends on the length in bytes.
func (k *known) same(o *known) bool { return k.runs == o.runs && k.sketch == o.sketch }

// Locate returns the byte range of a passage, extended to whole pieces between punctuation.
func Locate(text []byte, p method.Passage) (start, end int) {
	s := canon.NewScanner()
	total := uint64(0)
	eachPiece(s, text, func(letters uint64) { total += letters })
	from, to := p.From*total/max(p.Of, 1), p.To*total/max(p.Of, 1)
	at := uint64(0)
	eachPiece(s, text, func(letters uint64) {
		first, behind := s.Range()
		if at <= from {
			start = first
		}
		if at < to {
			end = behind
		}
		at += letters
	})
	return s.Trim(text, start, end)
}

// eachPiece calls f with the number of letters in each piece of a text.
func eachPiece(s *canon.Scanner, text []byte, f func(letters uint64)) {
	s.Reset(text)
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			f(uint64(s.Letters()))
		}
	}
}
