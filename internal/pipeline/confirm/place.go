// Package confirm compares the texts of copies before one is removed: the earlier text is read
// again, at its place in its input.
//
// That place is stored with every kept document, by [Place.Append]. [Inputs] reads texts again,
// whatever their format and compression. A [Confirmer] checks that the text read is the text that
// was judged, and compares.
package confirm

import (
	"encoding/binary"
	"errors"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
)

// Tag is that of the field of a document which holds its place; see docs/format.md, "Data
// of a document".
const Tag dedup.Tag = 2

// maxFile is the longest name of an input that is stored. A document of an input with a longer name
// has no place.
const maxFile = 768

// A Place is the place of a document in its input.
type Place struct {
	File string // the input, as it was named to the run
	At   corpus.Place
}

// Append appends the field to the others of a document.
func (p Place) Append(added []byte) []byte {
	if len(p.File) > maxFile {
		return added
	}
	value := binary.AppendUvarint(make([]byte, 0, 2*binary.MaxVarintLen64+len(p.File)), uint64(p.At.Part))
	value = binary.AppendUvarint(value, uint64(p.At.Record))
	return dedup.AppendField(added, Tag, append(value, p.File...))
}

var errPlace = errors.New("the place of a document is not what was stored: the table is damaged, or another program's")

// PlaceOf returns the place of a document; ok is false if none is stored.
func PlaceOf(r *dedup.Record) (p Place, ok bool, err error) {
	value, ok, err := r.Field(Tag)
	if !ok || err != nil {
		return p, false, err
	}
	part, n := binary.Uvarint(value)
	if n <= 0 || part > 1<<63-1 {
		return p, false, errPlace
	}
	record, m := binary.Uvarint(value[n:])
	if m <= 0 || record > 1<<63-1 || len(value) == n+m {
		return p, false, errPlace
	}
	p.At = corpus.Place{Part: int64(part), Record: int64(record)}
	p.File = string(value[n+m:])
	return p, true, nil
}
