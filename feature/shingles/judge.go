package shingles

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/firstseen/firstseen/feature/method"
)

// A Judge compares one document with others by their signatures.
type Judge struct {
	method.ByKeys
	threshold float64
}

var errRecord = errors.New("what is stored of a document is no signature of its shingles: the store is damaged, or another program's")

// stored is the stored record of a document.
type stored struct {
	whole     uint64
	shingles  uint64
	signature []byte // Places long; empty if there are no shingles
}

// parse reads what Record has written.
func (s *stored) parse(b []byte) error {
	if len(b) < 8 {
		return errRecord
	}
	s.whole = binary.LittleEndian.Uint64(b)
	n, size := binary.Uvarint(b[8:])
	if size <= 0 || n > 1<<40 {
		return errRecord
	}
	s.shingles, s.signature = n, b[8+size:]
	if len(s.signature) != Places && (n > 0 || len(s.signature) > 0) || n == 0 && len(s.signature) > 0 {
		return errRecord
	}
	return nil
}

// Record appends the fingerprint of the whole text, the number of shingles, and the
// signature.
func (j *Judge) Record(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, j.Sketch.Whole)
	dst = binary.AppendUvarint(dst, j.Sketch.Units)
	return append(dst, j.Sketch.Data...)
}

// Same compares fingerprints and signatures.
func (j *Judge) Same(record []byte) (same bool, features int, err error) {
	var s stored
	if err := s.parse(record); err != nil {
		return false, 0, err
	}
	return s.whole == j.Sketch.Whole && s.shingles == j.Sketch.Units && bytes.Equal(s.signature, j.Sketch.Data), 0, nil
}

// Compare estimates the Jaccard similarity. Of the places, raw have equal bytes, which two
// different values have by chance once in 256:
//
//	J = (raw/Places - 1/256) / (1 - 1/256) = (256 raw - Places) / (255 Places)
//
// Contained follows from J and both numbers of shingles, a and b: the texts have
// J (a + b) / (1 + J) in common.
func (j *Judge) Compare(_ *method.Candidate, record []byte) (f method.Finding, err error) {
	var s stored
	if err := s.parse(record); err != nil {
		return f, err
	}
	if len(s.signature) != len(j.Sketch.Data) || len(s.signature) == 0 {
		return f, nil
	}
	raw := 0
	for i, b := range s.signature {
		if b == j.Sketch.Data[i] {
			raw++
		}
	}
	num, den := uint64(max(256*raw-Places, 0)), uint64(255*Places)
	f.Score = method.Share(num, den)
	f.Share, f.Estimated = f.Score, true
	f.Contained = min(1, method.Share(num*(j.Sketch.Units+s.shingles), (den+num)*j.Sketch.Units))
	if f.Score >= j.threshold {
		f.Relation = method.Copy
	}
	return f, nil
}
