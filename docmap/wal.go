package docmap

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

const (
	chunkBytes = 32 << 10
	chunkHead  = 16
)

// A chunkLog collects the additions of the next checkpoint to a bucket, in chunks. Each begins with its
// checksum.
type chunkLog struct {
	bufs [][]byte // beyond the length, buffers to reuse
}

// last returns the chunk to append to. A new one consists of its head.
func (l *chunkLog) last(head int) (chunk *[]byte, begun bool) {
	n := len(l.bufs)
	if n > 0 && len(l.bufs[n-1]) < chunkBytes {
		return &l.bufs[n-1], false
	}
	l.bufs = slices.Grow(l.bufs, 1)[:n+1]
	l.bufs[n] = append(l.bufs[n][:0], make([]byte, head)...)
	return &l.bufs[n], true
}

// chunks returns the values to write; the first is chunk number next of the bucket. They stay
// valid until the log is added to or reset.
func (l *chunkLog) chunks(next uint32, seed uint64) [][]byte {
	for i, b := range l.bufs {
		binary.LittleEndian.PutUint64(b, xxh3.HashSeed(b[8:], seed+uint64(next)+uint64(i)))
	}
	return l.bufs
}

// wal holds the keys of the documents since the last checkpoint, encoded as they are written.
type wal struct {
	chunkLog
	n int // keys
}

func (l *wal) reset() { l.bufs, l.n = l.bufs[:0], 0 }

// add appends a document's keys and returns their encoding, valid until the next ones.
func (l *wal) add(doc uint32, keys []uint64) []byte {
	buf, begun := l.last(chunkHead)
	if begun {
		binary.LittleEndian.PutUint32((*buf)[8:], doc)
	}
	at := len(*buf)
	*buf = binary.AppendUvarint(*buf, uint64(len(keys)))
	from := len(*buf)
	*buf = slices.Grow(*buf, 8*len(keys))[:from+8*len(keys)]
	for i, b := 0, (*buf)[from:]; i < len(keys); i, b = i+1, b[8:] {
		binary.LittleEndian.PutUint64(b, keys[i])
	}
	binary.LittleEndian.PutUint32((*buf)[12:], binary.LittleEndian.Uint32((*buf)[12:])+1)
	l.n += len(keys)
	return (*buf)[at:]
}

// replayChunk calls f for each document of a chunk, with its keys. The first must be document
// next. It returns the number after the last.
func replayChunk(b []byte, chunk, next uint32, f func(doc uint32, keys []uint64) error) (uint32, error) {
	if len(b) < chunkHead || xxh3.HashSeed(b[8:], seedPending+uint64(chunk)) != binary.LittleEndian.Uint64(b) {
		return 0, damage("wrong checksum of pending chunk %d", chunk)
	}
	in := &fields{b: b[8:]}
	first, n := in.u32(), in.u32()
	if first != next {
		return 0, damage("pending chunk %d starts at document %d, not %d", chunk, first, next)
	}
	var keys []uint64
	for i := range n {
		count := in.uvarint()
		if in.short || count > uint64(len(in.b))/8 {
			return 0, damage("pending chunk %d is cut short", chunk)
		}
		keys = keys[:0]
		for range count {
			keys = append(keys, in.u64())
		}
		if err := f(first+i, keys); err != nil {
			return 0, err
		}
	}
	if len(in.b) != 0 {
		return 0, damage("pending chunk %d has a wrong length", chunk)
	}
	return first + n, nil
}

// replayPending calls f for each document with pending keys, and checks that these are all.
func (h *header) replayPending(pend *bbolt.Bucket, f func(doc uint32, keys []uint64) error) (err error) {
	next, total := h.flushed+1, uint64(0)
	for chunk := range h.chunks {
		next, err = replayChunk(pend.Get(binKey(uint64(chunk))), chunk, next, func(doc uint32, keys []uint64) error {
			total += uint64(len(keys))
			return f(doc, keys)
		})
		if err != nil {
			return err
		}
	}
	if next != h.docs+1 || total != h.pending {
		return damage("pending keys end at document %d of %d", next-1, h.docs)
	}
	return nil
}
