package bulk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
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

// A Form appends a record of a shard to dst as an engine reads it. doc is a buffer.
type Form func(dst []byte, m *Manifest, owner Place, record []byte, doc *Doc) ([]byte, error)

// Export writes every document of a set in a form, in order of places, with one call of w.Write for
// each. It uses jobs goroutines, at least one. The calls are the same for any number.
func Export(ctx context.Context, w io.Writer, set []*Manifest, jobs int, form Form) error {
	ring := make([]piece, jobs)
	for _, m := range set {
		err := m.eachPiece(ctx, ring, nothing, func(p *piece) error { return p.render(m, form) },
			func(p *piece) error { return p.write(w) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Export writes the next documents of a shard in a form, as the function Export does later, before
// the frame is added to it.
func (f *Frame) Export(w io.Writer, m *Manifest, form Form) error {
	p := &f.piece
	p.records, p.documents, p.owner = f.records, f.documents, placeOf(m.Shard-1, m.Documents, 0)
	if err := p.render(m, form); err != nil {
		return err
	}
	return p.write(w)
}

func (p *piece) render(m *Manifest, form Form) error {
	p.out, p.ends = p.out[:0], p.ends[:0]
	return p.each(func(owner Place, record []byte) (err error) {
		p.out, err = form(p.out, m, owner, record, &p.doc)
		p.ends = append(p.ends, len(p.out))
		return err
	})
}

func (p *piece) write(w io.Writer) error {
	at := 0
	for _, end := range p.ends {
		if _, err := w.Write(p.out[at:end]); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// Rows returns the form of a document as its rows.
func Rows(appendRow func(Row, []byte) []byte) Form {
	return func(dst []byte, _ *Manifest, owner Place, record []byte, doc *Doc) ([]byte, error) {
		_, err := doc.readKeys(record)
		if err != nil {
			return dst, err
		}
		for slot, key := range doc.keys {
			dst = appendRow(Row{key, owner + Place(slot)}, dst)
		}
		return dst, nil
	}
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

// documentRow is a [Document] as a row of Parquet.
type documentRow struct {
	Place int64        `json:"v"`
	ID    string       `json:"id"`
	File  string       `json:"file"`
	Line  corpus.Place `json:"line" columns:"part line"`
	Time  *string      `json:"time"`
	Keys  []int64      `json:"k"`
}

// TabledDocuments returns an enclosure for documents in Parquet: their lines become rows.
func TabledDocuments() (output.Enclosure, error) { return parquet.Lines[documentRow]() }

// Documents is the form of a document as a line of JSON, a [Document].
func Documents(dst []byte, m *Manifest, owner Place, record []byte, doc *Doc) ([]byte, error) {
	if err := doc.read(record); err != nil {
		return dst, err
	}
	file, err := m.fileOf(doc)
	if err != nil {
		return dst, err
	}
	d := Document{Place: owner, ID: string(doc.ID), File: file, Line: doc.At, Keys: make([]int64, len(doc.keys))}
	if !doc.Time.IsZero() {
		d.Time = &doc.Time
	}
	for i, key := range doc.keys {
		d.Keys[i] = int64(key)
	}
	to := bytes.NewBuffer(dst)
	err = json.NewEncoder(to).Encode(&d)
	return to.Bytes(), err
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
