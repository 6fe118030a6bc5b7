package docmap

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/internal/base/fields"
)

// MaxBatchName is the maximum length of a batch name in bytes.
const MaxBatchName = 255

// A Batch is a named set of documents. The JSON form is a contract.
type Batch struct {
	Name      string `json:"batch"`
	Documents uint32 `json:"documents"` // added, even if taken back, unless they only count
	Live      uint32 `json:"live"`      // not taken back
}

// ErrNoBatch means that no batch has that name.
var ErrNoBatch = errors.New("no such batch")

type span struct {
	first, last uint32
	batch       string
}

type batches struct {
	spans   []span // of all batches, ascending
	current string // batch of the documents after from, "" for none
	from    uint32
	dirty   map[string]uint32   // names to be written, and the first span of each that has changed; 0 for all
	chunks  map[string][]uint32 // keys of the chunks in the file: their first documents
	removed removedLog
}

const needsBatches = 1 << 4

// chunkSpans is the number of spans in a chunk. A checkpoint rewrites the last chunk of a batch, and
// two batches whose documents alternate have as many spans as documents.
const chunkSpans = 512

var bucketBatch = []byte("batch")

// SetBatch puts the documents added from now on into a batch, new or existing, or none for "".
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

func (b *batches) extend(docs uint32) {
	if b.current != "" && docs > b.from {
		if n := len(b.spans) - 1; n >= 0 && b.spans[n].last == b.from && b.spans[n].batch == b.current {
			b.spans[n].last = docs
		} else {
			b.spans = append(b.spans, span{b.from + 1, docs, b.current})
		}
		if _, ok := b.dirty[b.current]; !ok {
			b.dirty[b.current] = b.spans[len(b.spans)-1].first
		}
	}
	b.from = docs
}

// names returns a set of all batches, to be written as a whole.
func (b *batches) names() map[string]uint32 {
	names := map[string]uint32{}
	for _, s := range b.spans {
		names[s.batch] = 0
	}
	return names
}

// BatchOf returns the batch of a document, "" if it has none.
func (t *Table) BatchOf(num uint32) string {
	b := &t.batches
	if num > b.from {
		return b.current
	}
	i := sort.Search(len(b.spans), func(i int) bool { return b.spans[i].last >= num })
	if i < len(b.spans) && b.spans[i].first <= num {
		return b.spans[i].batch
	}
	return ""
}

// Batches returns all batches, ordered by name.
func (t *Table) Batches() []Batch {
	t.batches.extend(t.docs)
	found := map[string]Batch{}
	for _, s := range t.batches.spans {
		b := found[s.batch]
		b.Name = s.batch
		for num := s.first; num <= s.last; num++ {
			counted := t.tombstones.counted.has(num)
			if !counted {
				b.Documents++
			}
			if !counted && !t.tombstones.gone(num) {
				b.Live++
			}
		}
		found[s.batch] = b
	}
	return slices.SortedFunc(maps.Values(found), func(x, y Batch) int { return cmp.Compare(x.Name, y.Name) })
}

// BatchDocs returns the live documents of a batch, ascending, including those that only count. The
// error for an unknown batch is ErrNoBatch.
func (t *Table) BatchDocs(name string) (nums []uint32, err error) {
	t.batches.extend(t.docs)
	if _, ok := t.batches.names()[name]; !ok {
		return nil, fmt.Errorf("%w: %q", ErrNoBatch, name)
	}
	for _, s := range t.batches.spans {
		for num := s.first; s.batch == name && num <= s.last; num++ {
			if !t.tombstones.gone(num) {
				nums = append(nums, num)
			}
		}
	}
	return nums, nil
}

// EndBatch removes a batch, but not its documents. The next Checkpoint or SaveForgotten makes that
// durable. The error for an unknown batch is ErrNoBatch.
func (t *Table) EndBatch(name string) error {
	if err := t.writable(); err != nil {
		return fmt.Errorf("ending a batch: %w", err)
	}
	t.batches.extend(t.docs)
	if _, ok := t.batches.names()[name]; !ok {
		return fmt.Errorf("%w: %q", ErrNoBatch, name)
	}
	t.batches.spans = slices.DeleteFunc(t.batches.spans, func(s span) bool { return s.batch == name })
	t.batches.dirty[name] = 0
	return nil
}

// dropBelow removes the documents below a watermark from all batches, and batches left empty.
func (b *batches) dropBelow(mark uint32) {
	for len(b.spans) > 0 && b.spans[0].first < mark {
		s := &b.spans[0]
		b.dirty[s.batch] = 0
		if s.last >= mark {
			s.first = mark
			return
		}
		b.spans = b.spans[1:]
	}
}

func (b *batches) write(c *change) {
	b.extend(c.head.docs)
	if len(b.dirty) == 0 && len(b.removed.bufs) == 0 {
		return
	}
	c.head.needs |= needsBatches
	c.bucket(bucketBatch)
	from, least := maps.Clone(b.dirty), c.head.docs+1
	chunks := map[string][]uint32{}
	for name, first := range from {
		all := b.chunks[name]
		n := sort.Search(len(all), func(i int) bool { return all[i] > first })
		if n = max(n-1, 0); n < len(all) {
			from[name] = min(first, all[n])
		}
		for _, stale := range all[n:] {
			c.delete(bucketBatch, chunkKey(name, stale))
		}
		chunks[name] = slices.Clip(all[:n])
		least = min(least, from[name])
	}
	lists := map[string][]span{}
	for _, s := range b.spans[sort.Search(len(b.spans), func(i int) bool { return b.spans[i].first >= least }):] {
		if first, ok := from[s.batch]; ok && s.first >= first {
			lists[s.batch] = append(lists[s.batch], s)
		}
	}
	for name, list := range lists {
		for list := range slices.Chunk(list, chunkSpans) {
			c.put(bucketBatch, chunkKey(name, list[0].first), encodeSpans(name, list))
			chunks[name] = append(chunks[name], list[0].first)
		}
	}
	c.tx.OnCommit(func() {
		clear(b.dirty)
		maps.Copy(b.chunks, chunks)
	})
	b.removed.write(c)
}

func chunkKey(name string, first uint32) []byte {
	return append(binary.BigEndian.AppendUint32(nil, first), name...)
}

func encodeSpans(name string, list []span) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(list)))
	for _, s := range list {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, s.first), s.last)
	}
	return seal(b, batchSeed(name))
}

func batchSeed(name string) uint64 { return xxh3.HashStringSeed(name, seedBatch) }

func (t *Table) loadBatches(tx *bbolt.Tx) error {
	b := &t.batches
	b.from, b.dirty, b.chunks = t.head.docs, map[string]uint32{}, map[string][]uint32{}
	if t.head.needs&needsBatches == 0 {
		return nil
	}
	bucket := tx.Bucket(bucketBatch)
	if bucket == nil {
		return damage("the list of batches is missing")
	}
	for key, value := range entries(bucket, nil) {
		name := string(key[min(4, len(key)):])
		list, err := decodeSpans(name, value, t.head.docs)
		if err != nil {
			return err
		}
		if len(list) == 0 || string(key) != string(chunkKey(name, list[0].first)) {
			return damage("the batch %.40q has documents under another key", name)
		}
		b.spans = append(b.spans, list...)
		b.chunks[name] = append(b.chunks[name], list[0].first)
	}
	slices.SortFunc(b.spans, func(x, y span) int { return cmp.Compare(x.first, y.first) })
	for i := 1; i < len(b.spans); i++ {
		if b.spans[i].first <= b.spans[i-1].last {
			return damage("document %d is in two batches", b.spans[i].first)
		}
	}
	b.dropBelow(t.head.win.watermark())
	return nil
}

func decodeSpans(name string, b []byte, docs uint32) ([]span, error) {
	body, ok := sealed(b, batchSeed(name))
	if !ok || len(body) < 4 || len(name) > MaxBatchName {
		return nil, damage("wrong checksum of the batch %.40q", name)
	}
	f := &fields.Reader{Rest: body}
	count := f.Uint32()
	if uint64(count)*8 != uint64(len(f.Rest)) {
		return nil, damage("the batch %.40q has a wrong length", name)
	}
	list := make([]span, count)
	next := uint32(1)
	for i := range list {
		s := span{f.Uint32(), f.Uint32(), name}
		if s.first < next || s.last < s.first || s.last > docs {
			return nil, damage("the batch %.40q has documents %d to %d of %d", name, s.first, s.last, docs)
		}
		list[i], next = s, s.last+1
	}
	return list, nil
}

// A Removed is a document that was removed because of a document in the table.
type Removed struct {
	Of    uint32 // the document that caused the removal
	Batch string // of the removed one, "" for none
	ID    string
}

// removedLog holds the encoded documents noted since the last checkpoint.
type removedLog struct {
	chunkLog
	bytes int
}

var bucketRemoved = []byte("removed")

const removedHead = 8 // checksum

// NoteRemoved records that the document id was removed because of document of. It does nothing
// unless of is in a batch other than the current one: cancelling that batch lists the removed
// documents. The next Checkpoint makes the record durable.
func (t *Table) NoteRemoved(of uint32, id string) {
	b := &t.batches
	if batch := t.BatchOf(of); batch != "" && batch != b.current {
		b.removed.add(Removed{of, b.current, id})
	}
}

func (l *removedLog) add(r Removed) {
	chunk, _ := l.last(removedHead)
	before := len(*chunk)
	b := binary.AppendUvarint(*chunk, uint64(r.Of))
	b = append(b, byte(len(r.Batch)))
	b = append(b, r.Batch...)
	b = binary.AppendUvarint(b, uint64(len(r.ID)))
	*chunk = append(b, r.ID...)
	l.bytes += len(*chunk) - before
}

func (l *removedLog) write(c *change) {
	if len(l.bufs) == 0 || c.bucket(bucketRemoved) == nil {
		return
	}
	next := uint32(0)
	if last, _ := c.bucket(bucketRemoved).Cursor().Last(); len(last) == 4 {
		next = binary.BigEndian.Uint32(last) + 1
	}
	for _, b := range l.chunks(next, seedRemoved) {
		c.add(bucketRemoved, uint64(next), b)
		next++
	}
	c.tx.OnCommit(func() { l.bufs, l.bytes = nil, 0 })
}

// Removed iterates over the removed documents in the file, in order of removal. An error ends it.
func (t *Table) Removed() iter.Seq2[Removed, error] {
	return sequence(t, "listing removed documents", func(step stepFunc, yield func(Removed) bool) {
		for from := []byte{}; from != nil; {
			var list []Removed
			ok := step(func(s *snapshot) (err error) {
				at := from
				from = nil
				if b := s.tx.Bucket(bucketRemoved); s.pages != nil && len(at) == 0 && b != nil && b.Root() != 0 {
					if err := s.pages.Tree(uint64(b.Root())); err != nil {
						return err
					}
				}
				for key, value := range entries(s.tx.Bucket(bucketRemoved), at) {
					from = append(bytes.Clone(key), 0)
					list, err = removedChunk(key, value)
					break
				}
				return err
			})
			if !ok {
				return
			}
			for _, r := range list {
				if !yield(r) {
					return
				}
			}
		}
	})
}

// removedChunk verifies a chunk and returns its entries.
func removedChunk(key, value []byte) ([]Removed, error) {
	if len(key) == 4 && len(value) >= removedHead {
		chunk, body := uint64(binary.BigEndian.Uint32(key)), value[removedHead:]
		if xxh3.HashSeed(body, seedRemoved+chunk) == binary.LittleEndian.Uint64(value) {
			return removedEntries(body)
		}
	}
	return nil, damage("wrong checksum of removed documents, chunk %x", key)
}

// removedBefore reports whether all entries of a chunk refer to documents below a watermark.
func removedBefore(chunk []byte, mark uint32) (bool, error) {
	list, err := removedEntries(chunk[min(removedHead, len(chunk)):])
	return !slices.ContainsFunc(list, func(r Removed) bool { return r.Of >= mark }), err
}

func removedEntries(b []byte) (list []Removed, err error) {
	f := &fields.Reader{Rest: b}
	for len(f.Rest) > 0 && !f.Short {
		var r Removed
		r.Of = uint32(f.Uvarint())
		r.Batch = string(f.Next(int(f.Byte())))
		r.ID = string(f.Bytes())
		list = append(list, r)
	}
	if f.Short {
		return nil, damage("a chunk of removed documents is cut short")
	}
	return list, nil
}
