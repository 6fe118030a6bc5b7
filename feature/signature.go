package feature

import (
	"bytes"
	"encoding/binary"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
)

// A signature describes Sketch.Data for methods that compare documents by it alone. Their record is
// the fingerprint of the whole text, followed by the signature if the document has one.
type signature struct {
	bytes   int
	counted bool  // the record also has Sketch.Units, a varint; 0 without a signature
	damaged error // the error for a malformed record
}

type stored struct {
	whole     uint64
	units     uint64
	signature []byte
}

const maxUnits = 1 << 40 // more than any text has

func (g *signature) parse(record []byte) (s stored, err error) {
	if len(record) < 8 {
		return s, g.damaged
	}
	s.whole, s.signature = binary.LittleEndian.Uint64(record), record[8:]
	if g.counted {
		size := 0
		s.units, size = binary.Uvarint(s.signature)
		if size <= 0 || s.units > maxUnits || (s.units > 0) != (len(s.signature) > size) {
			return s, g.damaged
		}
		s.signature = s.signature[size:]
	}
	if n := len(s.signature); n != 0 && n != g.bytes {
		return s, g.damaged
	}
	return s, nil
}

type signatureJudge struct {
	method.ByKeys
	*signature
	compare func(own *method.Sketch, other *stored) method.Finding
	other   stored
}

// Record appends the record of the document to dst.
func (j *signatureJudge) Record(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, j.Sketch.Whole)
	if j.counted {
		dst = binary.AppendUvarint(dst, j.Sketch.Units)
	}
	return append(dst, j.Sketch.Data...)
}

// Same compares the fingerprints, and the signatures if they are made of words. Signatures of terms
// depend on punctuation: a comma may split a term.
func (j *signatureJudge) Same(record []byte) (same bool, features int, err error) {
	s, err := j.parse(record)
	same = err == nil && s.whole == j.Sketch.Whole
	if j.counted {
		same = same && s.units == j.Sketch.Units && bytes.Equal(s.signature, j.Sketch.Data)
	}
	return same, 0, err
}

// Compare compares the signatures if both documents have one.
func (j *signatureJudge) Compare(_ *method.Candidate, record []byte) (f method.Finding, err error) {
	j.other, err = j.parse(record)
	if err != nil || len(j.other.signature) == 0 || len(j.Sketch.Data) == 0 {
		return f, err
	}
	return j.compare(j.Sketch, &j.other), nil
}

// lead returns the feature that finds documents with the same form, a part of their signatures.
func lead(h *digest.Hasher, form []byte) method.Feature {
	order := digest.Order(form)
	return method.Feature{Key: h.Key(form, order), Order: order}
}
