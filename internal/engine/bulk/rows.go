package bulk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/firstseen/firstseen/corpus"
)

// A Place identifies a key by its shard, document and slot. It has 63 bits, in the order of the
// run, so that it is positive in engines without unsigned numbers.
type Place uint64

const (
	slotBits     = 11 // a document has at most 1024 features and a whole text
	documentBits = 36

	// MaxShards is the largest number of shards in a set, MaxDocuments of documents in a shard.
	MaxShards    = 1 << 16
	MaxDocuments = 1 << documentBits
	maxSlots     = 1 << slotBits
)

// placeOf returns the place of a key. All three numbers count from 0.
func placeOf(shard int, document uint64, slot int) Place {
	return Place(uint64(shard)<<(documentBits+slotBits) | document<<slotBits | uint64(slot))
}

func (p Place) shard() int       { return int(p >> (documentBits + slotBits)) }
func (p Place) document() uint64 { return uint64(p) >> slotBits & (MaxDocuments - 1) }
func (p Place) slot() int        { return int(p & (maxSlots - 1)) }

// owner returns the place of the document's first key, the same for all its keys.
func (p Place) owner() Place { return p &^ (maxSlots - 1) }

func (p Place) String() string {
	return fmt.Sprintf("%d (shard %d, document %d, key %d)", uint64(p), p.shard()+1, p.document()+1, p.slot()+1)
}

// A Row is a key and one of its places.
type Row struct {
	Key   uint64
	Place Place
}

// EachRow calls f for every row of a set, in order of places.
func EachRow(ctx context.Context, set []*Manifest, f func(Row) error) error {
	var doc Doc
	return eachRecord(ctx, set, func(_ *Manifest, owner Place, record []byte) error {
		if _, err := doc.readKeys(record); err != nil {
			return err
		}
		for slot, key := range doc.keys {
			if err := f(Row{key, owner + Place(slot)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// A Document is a document of a shard for engines: a line of JSON, or a row of Parquet.
type Document struct {
	Place Place        `json:"v"` // of its first key; those of the others follow
	ID    string       `json:"id"`
	File  string       `json:"file"`
	Line  corpus.Place `json:"line"`
	Time  *time.Time   `json:"time,omitempty"`
	Keys  []int64      `json:"k"` // features, then the whole text; negative from 1<<63 on
}

// EachDocument calls f for every document of a set, in order. The Document is reused.
func EachDocument(ctx context.Context, set []*Manifest, f func(*Document) error) error {
	var doc Doc
	var d Document
	return eachRecord(ctx, set, func(m *Manifest, owner Place, record []byte) error {
		if err := doc.read(record); err != nil {
			return err
		}
		file, err := m.fileOf(&doc)
		if err != nil {
			return err
		}
		d = Document{Place: owner, ID: string(doc.ID), File: file, Line: doc.At, Keys: d.Keys[:0]}
		if !doc.Time.IsZero() {
			d.Time = &doc.Time
		}
		for _, key := range doc.keys {
			d.Keys = append(d.Keys, int64(key))
		}
		return f(&d)
	})
}

func eachRecord(ctx context.Context, set []*Manifest, f func(m *Manifest, owner Place, record []byte) error) error {
	for _, m := range set {
		if err := m.eachRecord(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// AppendBinary appends the row in sixteen bytes, key and place, big-endian. Rows sorted as bytes
// are sorted as numbers.
func (r Row) AppendBinary(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, r.Key), uint64(r.Place))
}

// AppendLine appends the row as a line: the key in 16 hexadecimal digits, a space, and the place in
// 19 decimal digits. Lines sorted as text are sorted as numbers.
func (r Row) AppendLine(dst []byte) []byte {
	key := binary.BigEndian.AppendUint64(nil, r.Key)
	return r.Place.AppendLine(append(hex.AppendEncode(dst, key), ' '))
}

// AppendLine appends the place as a line of 19 digits.
func (p Place) AppendLine(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, "0000000000000000000\n"...)
	for i := at + 18; p > 0; i-- {
		dst[i], p = byte('0'+p%10), p/10
	}
	return dst
}

const lineLength = 16 + 1 + 19

// ErrRows is returned by Reduce for input that is not sorted rows.
var ErrRows = errors.New("this is not sorted output of firstseen bulk rows")

// Reduce reads sorted lines of rows, and calls mark with the places of each key that has two or
// more. Engines do the same in one statement; see docs/howto.md. Duplicate rows change nothing.
func Reduce(sorted io.Reader, mark func(Place) error) error {
	in := bufio.NewReaderSize(sorted, 1<<20)
	var last Row
	have, marked := false, false
	for n := 1; ; n++ {
		line, err := nextLine(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row, ok := parseRow(bytes.TrimRight(line, "\r\n"))
		if !ok || have && (row.Key < last.Key || row.Key == last.Key && row.Place < last.Place) {
			return fmt.Errorf("%w: line %d is %q; sort with LC_ALL=C sort", ErrRows, n, line)
		}
		same := have && row.Key == last.Key
		if same && row.Place > last.Place {
			if !marked {
				err = mark(last.Place)
			}
			if marked = true; err == nil {
				err = mark(row.Place)
			}
			if err != nil {
				return err
			}
		}
		marked = marked && same
		last, have = row, true
	}
}

// nextLine reads a line with its line end, which the last line may lack.
func nextLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return line, err
}

func parseRow(line []byte) (r Row, ok bool) {
	if len(line) != lineLength || line[16] != ' ' {
		return r, false
	}
	key, err := strconv.ParseUint(string(line[:16]), 16, 64)
	place, ok := parsePlace(line[17:])
	return Row{key, place}, ok && err == nil
}

func parsePlace(b []byte) (p Place, ok bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for _, d := range b {
		if d < '0' || d > '9' {
			return 0, false
		}
		p = 10*p + Place(d-'0')
	}
	return p, p < 1<<63
}
