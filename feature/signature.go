package feature

import (
	"bytes"
	"encoding/binary"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
)

// A signature describes Sketch.Data of the methods that compare documents by it alone. Their record
// is the fingerprint of the whole text and, if the document has one, the signature.
type signature struct {
	bytes   int
	counted bool  // Sketch.Units stands in the record too, a varint, 0 of a document without signature
	damaged error // the error for another record
}

// stored is the record of a document.
type stored struct {
	whole     uint64
	units     uint64
	signature []byte
}

// maxUnits is more than the units of any text.
const maxUnits = 1 << 40

// parse reads what Record has written.
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

// A signatureJudge compares documents by their signatures.
type signatureJudge struct {
	method.ByKeys
	*signature
	compare func(own *method.Sketch, other *stored) method.Finding
	other   stored
}

// Record appends the record of the document.
func (j *signatureJudge) Record(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, j.Sketch.Whole)
	if j.counted {
		dst = binary.AppendUvarint(dst, j.Sketch.Units)
	}
	return append(dst, j.Sketch.Data...)
}

// Same compares fingerprints, and signatures of words. Those of terms go by how a text is cut, and a
// comma may cut it.
func (j *signatureJudge) Same(record []byte) (same bool, features int, err error) {
	s, err := j.parse(record)
	same = err == nil && s.whole == j.Sketch.Whole
	if j.counted {
		same = same && s.units == j.Sketch.Units && bytes.Equal(s.signature, j.Sketch.Data)
	}
	return same, 0, err
}

// Compare compares the signatures, if both documents have one.
func (j *signatureJudge) Compare(_ *method.Candidate, record []byte) (f method.Finding, err error) {
	j.other, err = j.parse(record)
	if err != nil || len(j.other.signature) == 0 || len(j.Sketch.Data) == 0 {
		return f, err
	}
	return j.compare(j.Sketch, &j.other), nil
}

// lead returns the feature that leads to documents with a common part of their signatures.
func lead(h *digest.Hasher, form []byte) method.Feature {
	order := digest.Order(form)
	return method.Feature{Key: h.Key(form, order), Order: order}
}
