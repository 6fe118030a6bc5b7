package bulk

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// A Doc is a document of a shard. Its slices are valid until the next one is read.
type Doc struct {
	Input  int // index into Manifest.Inputs
	At     corpus.Place
	ID     []byte
	Time   time.Time // zero if unknown
	Sketch feature.Sketch

	keys []uint64 // set by readKeys
}

var errRecord = errors.New("a document differs from what this version of firstseen writes: remove the shard and its manifest, and make it again")

const (
	flagTruncated = 1 << iota
	flagTime
	flagOrders
)

// appendRecord appends a document. The keys come first, because most readers need nothing else.
// Orders are written if the scheme has a secret; otherwise a segment's key is its order.
func appendRecord(dst []byte, d *Doc, keyed bool) []byte {
	le, s := binary.LittleEndian, &d.Sketch
	dst = binary.AppendUvarint(dst, uint64(len(s.Features)))
	for i := range s.Features {
		dst = le.AppendUint64(dst, s.Features[i].Key)
	}
	dst = le.AppendUint64(dst, s.Whole)
	dst = append(dst, flagsOf(d, keyed))
	dst = binary.AppendUvarint(dst, uint64(d.Input))
	dst = binary.AppendVarint(binary.AppendVarint(dst, d.At.Part), d.At.Record)
	if !d.Time.IsZero() {
		dst = binary.AppendVarint(binary.AppendVarint(dst, d.Time.Unix()), int64(d.Time.Nanosecond()))
	}
	dst = appendBytes(dst, d.ID)
	dst = binary.AppendUvarint(dst, uint64(s.Leads))
	for i := range s.Features[:s.Parts()] {
		f := &s.Features[i]
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(f.Width)), uint64(f.Units))
		if keyed {
			dst = le.AppendUint64(dst, f.Order)
		}
	}
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, s.Width), s.Units)
	return appendBytes(dst, s.Data)
}

func flagsOf(d *Doc, keyed bool) (flags byte) {
	if d.Sketch.Truncated {
		flags |= flagTruncated
	}
	if !d.Time.IsZero() {
		flags |= flagTime
	}
	if keyed {
		flags |= flagOrders
	}
	return flags
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// AppendSketch appends a sketch without a secret, in the form of a record.
func AppendSketch(dst []byte, s *feature.Sketch) []byte {
	return appendRecord(dst, &Doc{Sketch: *s}, false)
}

// ParseSketch reads a sketch written by AppendSketch.
func ParseSketch(s *feature.Sketch, record []byte) error {
	var d Doc
	err := d.read(record)
	*s = d.Sketch
	return err
}

// readKeys reads the keys of a record: those of its features, and that of the whole text.
func (d *Doc) readKeys(record []byte) (rest fields.Reader, err error) {
	rest.Rest = record
	n := rest.Uvarint()
	if rest.Short || n >= maxSlots || uint64(len(rest.Rest)) < 8*(n+1) {
		return rest, errRecord
	}
	d.keys = slices.Grow(d.keys[:0], int(n)+1)
	for range n + 1 {
		d.keys = append(d.keys, rest.Uint64())
	}
	return rest, nil
}

func (d *Doc) readRest(r fields.Reader) error {
	s, n := &d.Sketch, len(d.keys)-1
	*s = feature.Sketch{Features: s.Features[:0], Data: s.Data[:0], Whole: d.keys[n]}
	s.Features = slices.Grow(s.Features, n)
	for _, key := range d.keys[:n] {
		s.Features = append(s.Features, feature.Feature{Key: key, Order: key})
	}
	flags := r.Byte()
	s.Truncated = flags&flagTruncated != 0
	d.Input, d.At.Part, d.At.Record = int(r.Uvarint()), r.Varint(), r.Varint()
	if d.Time = (time.Time{}); flags&flagTime != 0 {
		seconds := r.Varint()
		d.Time = time.Unix(seconds, r.Varint()).UTC()
	}
	d.ID = r.Bytes()
	leads := r.Uvarint()
	if leads > uint64(n) {
		return errRecord
	}
	s.Leads = int(leads)
	for i := range s.Parts() {
		f := &s.Features[i]
		f.Width, f.Units = uint32(r.Uvarint()), uint32(r.Uvarint())
		if flags&flagOrders != 0 {
			f.Order = r.Uint64()
		}
	}
	s.Width, s.Units = r.Uvarint(), r.Uvarint()
	s.Data = append(s.Data, r.Bytes()...)
	if r.Short || len(r.Rest) > 0 {
		return errRecord
	}
	return nil
}

func (d *Doc) read(record []byte) error {
	rest, err := d.readKeys(record)
	if err != nil {
		return err
	}
	return d.readRest(rest)
}
