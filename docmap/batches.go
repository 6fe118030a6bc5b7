package docmap

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

// MaxBatchName is the largest length of a batch's name, in bytes.
const MaxBatchName = 255

// A Batch is documents under a common name. The JSON form is a contract.
type Batch struct {
	Name      string `json:"batch"`
	Documents uint32 `json:"documents"` // added, including those taken back since
	Live      uint32 `json:"live"`      // those of them not taken back
}

// ErrNoBatch: there is no batch of that name.
var ErrNoBatch = errors.New("no such batch")

type span struct{ first, last uint32 }

type namedSpan struct {
	span
	name string
}

type batches struct {
	spans   map[string][]span // ascending each
	sorted  []namedSpan       // all spans by first document; nil if it must be made anew
	current string            // batch of the documents after from, "" for none
	from    uint32
	dirty   map[string]bool // names to be written
	removed removedLog
}

const needsBatches = 1 << 2

var bucketBatch = []byte("batch")

// SetBatch puts the documents added from here on into a batch, new or old; into none if name is
// empty.
func (t *Table) SetBatch(name string) error {
	if err := t.writable(); err != nil {
		return fmt.Errorf("beginning a batch: %w", err)
	}
	if len(name) > MaxBatchName || !utf8.ValidString(name) {
		return fmt.Errorf("beginning a batch: its name has %d bytes, or is not UTF-8: want at most %d", len(name), MaxBatchName)
	}
	t.batches.extend(t.docs)
	t.batches.current, t.batches.from = name, t.docs
	return nil
}

// extend puts the documents up to docs into the current batch.
func (b *batches) extend(docs uint32) {
	if b.current != "" && docs > b.from {
		list := b.spans[b.current]
		if n := len(list); n > 0 && list[n-1].last == b.from {
			list[n-1].last = docs
		} else {
			list = append(list, span{b.from + 1, docs})
		}
		b.spans[b.current] = list
		b.touch(b.current)
	}
	b.from = docs
}

func (b *batches) touch(name string) {
	b.dirty[name], b.sorted = true, nil
}

// BatchOf returns the batch of a document, "" if it has none.
func (t *Table) BatchOf(num uint32) string {
	b := &t.batches
	if num > b.from {
		return b.current
	}
	if b.sorted == nil {
		b.sorted = []namedSpan{}
		for name, list := range b.spans {
			for _, s := range list {
				b.sorted = append(b.sorted, namedSpan{s, name})
			}
		}
		slices.SortFunc(b.sorted, func(x, y namedSpan) int { return cmp.Compare(x.first, y.first) })
	}
	i := sort.Search(len(b.sorted), func(i int) bool { return b.sorted[i].last >= num })
	if i < len(b.sorted) && b.sorted[i].first <= num {
		return b.sorted[i].name
	}
	return ""
}

// Batches lists all batches by name.
func (t *Table) Batches() []Batch {
	t.batches.extend(t.docs)
	list := []Batch{}
	for _, name := range slices.Sorted(maps.Keys(t.batches.spans)) {
		b := Batch{Name: name}
		for _, s := range t.batches.spans[name] {
			b.Documents += s.last - s.first + 1
			for num := s.first; num <= s.last; num++ {
				switch {
				case t.tombstones.counted.which.has(num):
					b.Documents--
				case !t.tombstones.has(num):
					b.Live++
				}
			}
		}
		list = append(list, b)
	}
	return list
}

// BatchDocs returns the live documents of a batch, ascending, including those that only count.
// The error is ErrNoBatch.
func (t *Table) BatchDocs(name string) ([]uint32, error) {
	t.batches.extend(t.docs)
	list, ok := t.batches.spans[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrNoBatch, name)
	}
	var nums []uint32
	for _, s := range list {
		for num := s.first; num <= s.last; num++ {
			if !t.tombstones.gone(num) {
				nums = append(nums, num)
			}
		}
	}
	return nums, nil
}

// EndBatch forgets a batch, but not its documents. The next Checkpoint or SaveForgotten makes
// that durable. The error is ErrNoBatch.
func (t *Table) EndBatch(name string) error {
	if err := t.writable(); err != nil {
		return fmt.Errorf("ending a batch: %w", err)
	}
	t.batches.extend(t.docs)
	if _, ok := t.batches.spans[name]; !ok {
		return fmt.Errorf("%w: %q", ErrNoBatch, name)
	}
	delete(t.batches.spans, name)
	t.batches.touch(name)
	return nil
}

// dropBelow removes the documents below a watermark from all batches, and batches without others.
func (b *batches) dropBelow(mark uint32) {
	for name, list := range b.spans {
		left := slices.DeleteFunc(slices.Clone(list), func(s span) bool { return s.last < mark })
		if len(left) > 0 && left[0].first < mark {
			left[0].first = mark
		}
		if slices.Equal(left, list) {
			continue
		}
		if b.spans[name] = left; len(left) == 0 {
			delete(b.spans, name)
		}
		b.touch(name)
	}
}

// write stores the changed batches.
func (b *batches) write(c *change, next *header) {
	b.extend(next.docs)
	if len(b.dirty) == 0 && b.removed.empty() {
		return
	}
	next.needs |= needsBatches
	c.bucket(bucketBatch)
	for name := range b.dirty {
		if list, ok := b.spans[name]; ok {
			c.put(bucketBatch, []byte(name), encodeSpans(name, list))
		} else {
			c.delete(bucketBatch, []byte(name))
		}
	}
	b.removed.write(c)
}

func (b *batches) saved() {
	clear(b.dirty)
	b.removed.saved()
}

func encodeSpans(name string, list []span) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(len(list)))
	for _, s := range list {
		b = le.AppendUint32(b, s.first)
		b = le.AppendUint32(b, s.last)
	}
	return seal(b, batchSeed(name))
}

func batchSeed(name string) uint64 { return xxh3.HashStringSeed(name, seedBatch) }

func (t *Table) loadBatches(tx *bbolt.Tx) error {
	b := &t.batches
	b.from, b.spans, b.dirty = t.head.docs, map[string][]span{}, map[string]bool{}
	if t.head.needs&needsBatches == 0 {
		return nil
	}
	bucket := tx.Bucket(bucketBatch)
	if bucket == nil {
		return damage("the list of batches is missing")
	}
	for key, value := range entries(bucket, nil) {
		list, err := decodeSpans(string(key), value, t.head.docs)
		if err != nil {
			return err
		}
		b.spans[string(key)] = list
	}
	b.dropBelow(t.head.win.watermark())
	return nil
}

func decodeSpans(name string, b []byte, docs uint32) ([]span, error) {
	body, ok := sealed(b, batchSeed(name))
	if !ok || len(body) < 4 || len(name) > MaxBatchName {
		return nil, damage("wrong checksum of the batch %.40q", name)
	}
	f := &fields{b: body}
	count := f.u32()
	if uint64(count)*8 != uint64(len(f.b)) {
		return nil, damage("the batch %.40q has a wrong length", name)
	}
	list := make([]span, count)
	next := uint32(1)
	for i := range list {
		s := span{f.u32(), f.u32()}
		if s.first < next || s.last < s.first || s.last > docs {
			return nil, damage("the batch %.40q has documents %d to %d of %d", name, s.first, s.last, docs)
		}
		list[i], next = s, s.last+1
	}
	return list, nil
}
