package docmap

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
)

const (
	chunkBytes = 32 << 10
	chunkHead  = 16
)

// keyLog holds the keys of the documents since the last checkpoint, in the
// form they are written in.
type keyLog struct {
	buf    []byte
	starts []int // of chunks in buf
	n      int   // keys
	docs   uint32
}

func (l *keyLog) reset() {
	l.buf, l.starts, l.n, l.docs = l.buf[:0], l.starts[:0], 0, 0
}

// add appends a document's keys and returns the bytes they became, valid until
// the next ones.
func (l *keyLog) add(doc uint32, keys []uint64) []byte {
	if len(l.starts) == 0 || len(l.buf)-l.starts[len(l.starts)-1] >= chunkBytes {
		l.starts = append(l.starts, len(l.buf))
		l.buf = append(l.buf, make([]byte, chunkHead)...)
		binary.LittleEndian.PutUint32(l.buf[len(l.buf)-8:], doc)
	}
	at := len(l.buf)
	l.buf = binary.AppendUvarint(l.buf, uint64(len(keys)))
	from := len(l.buf)
	l.buf = slices.Grow(l.buf, 8*len(keys))[:from+8*len(keys)]
	for i, b := 0, l.buf[from:]; i < len(keys); i, b = i+1, b[8:] {
		binary.LittleEndian.PutUint64(b, keys[i])
	}
	head := l.buf[l.starts[len(l.starts)-1]:]
	binary.LittleEndian.PutUint32(head[12:], binary.LittleEndian.Uint32(head[12:])+1)
	l.n += len(keys)
	l.docs++
	return l.buf[at:]
}

// chunks returns the values to write, the first of them being chunk number
// next of the table. They stay valid until the log is added to or reset.
func (l *keyLog) chunks(next uint32) [][]byte {
	values := make([][]byte, len(l.starts))
	for i, start := range l.starts {
		end := len(l.buf)
		if i+1 < len(l.starts) {
			end = l.starts[i+1]
		}
		b := l.buf[start:end:end]
		sum := xxh3.HashSeed(b[8:], seedPending+uint64(next)+uint64(i))
		binary.LittleEndian.PutUint64(b, sum)
		values[i] = b
	}
	return values
}

// replayChunk gives each document of a chunk, with its keys, to f. The first
// has to be document next; the number after the last is returned.
func replayChunk(b []byte, chunk, next uint32, keys []uint64, f func(doc uint32, keys []uint64) error) (uint32, []uint64, error) {
	if len(b) < chunkHead || xxh3.HashSeed(b[8:], seedPending+uint64(chunk)) != binary.LittleEndian.Uint64(b) {
		return 0, keys, damage("wrong checksum of pending chunk %d", chunk)
	}
	in := &fields{b: b[8:]}
	first, n := in.u32(), in.u32()
	if first != next {
		return 0, keys, damage("pending chunk %d starts at document %d, not %d", chunk, first, next)
	}
	for i := range n {
		count := in.uvarint()
		if in.short || count > uint64(len(in.b))/8 {
			return 0, keys, damage("pending chunk %d is cut short", chunk)
		}
		keys = keys[:0]
		for range count {
			keys = append(keys, in.u64())
		}
		if err := f(first+i, keys); err != nil {
			return 0, keys, err
		}
	}
	if len(in.b) != 0 {
		return 0, keys, damage("pending chunk %d has a wrong length", chunk)
	}
	return first + n, keys, nil
}
