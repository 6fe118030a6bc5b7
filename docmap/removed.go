package docmap

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

// A Removed is a document missing from the table for the sake of one in it.
type Removed struct {
	Of    uint32 // the document in the table
	Batch string // of the removed one, "" for none
	ID    string
}

// removedLog holds the documents noted since the last checkpoint, encoded.
type removedLog struct {
	chunkLog
	bytes int
}

var bucketRemoved = []byte("removed")

const removedHead = 8 // checksum

func (l *removedLog) empty() bool { return len(l.bufs) == 0 }

// NoteRemoved notes that the document of an id was removed for the sake of document of, if that
// one is in another batch than the current one. It is listed when that batch is cancelled. The
// next Checkpoint makes it durable.
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
	if l.empty() || c.bucket(bucketRemoved) == nil {
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
}

// saved drops the chunks after the transaction that stores them.
func (l *removedLog) saved() { l.bufs, l.bytes = nil, 0 }

// Removed iterates over the documents of NoteRemoved that are in the file, in the order of their
// removal. An error ends it.
func (t *Table) Removed() iter.Seq2[Removed, error] {
	return sequence(t, "listing removed documents", func(step stepFunc, yield func(Removed) bool) {
		for key := []byte{}; key != nil; {
			var list []Removed
			ok := step(func(s *snapshot) (err error) {
				list, key, err = removedChunk(s.tx, key)
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

// removedChunk returns the entries of the first chunk at or after a key, and the key after it;
// nil at the end.
func removedChunk(tx *bbolt.Tx, at []byte) (list []Removed, next []byte, err error) {
	bucket := tx.Bucket(bucketRemoved)
	if bucket == nil {
		return nil, nil, nil
	}
	key, value := bucket.Cursor().Seek(at)
	if key == nil {
		return nil, nil, nil
	}
	if len(key) != 4 || len(value) < removedHead {
		return nil, nil, damage("wrong checksum of removed documents, chunk %x", key)
	}
	chunk, body := uint64(binary.BigEndian.Uint32(key)), value[removedHead:]
	if xxh3.HashSeed(body, seedRemoved+chunk) != binary.LittleEndian.Uint64(value) {
		return nil, nil, damage("wrong checksum of removed documents, chunk %x", key)
	}
	list, err = removedEntries(body)
	return list, binKey(chunk + 1), err
}

// removedBefore reports whether all documents of a chunk were removed for the sake of one below a
// watermark.
func removedBefore(chunk []byte, mark uint32) (bool, error) {
	list, err := removedEntries(chunk[min(removedHead, len(chunk)):])
	return !slices.ContainsFunc(list, func(r Removed) bool { return r.Of >= mark }), err
}

func removedEntries(b []byte) (list []Removed, err error) {
	f := &fields{b: b}
	for len(f.b) > 0 && !f.short {
		var r Removed
		r.Of = uint32(f.uvarint())
		r.Batch = string(f.next(int(f.u8())))
		n := f.uvarint()
		if n > uint64(len(f.b)) {
			f.short = true
			break
		}
		r.ID = string(f.next(int(n)))
		list = append(list, r)
	}
	if f.short {
		return nil, damage("a chunk of removed documents is cut short")
	}
	return list, nil
}
