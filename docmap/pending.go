package docmap

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/internal/base/fields"
)

const (
	// chunkBytes closes a chunk. Opening a table reads a page of every second chunk before it
	// replays them: 98 of a full memory table. Chunks of 32 KiB took 200 reads of 1 MiB.
	chunkBytes = 256 << 10
	chunkHead  = 16
)

// A chunkLog collects the next checkpoint's additions to a bucket, in chunks headed by checksums.
type chunkLog struct {
	bufs [][]byte // beyond the length, reusable buffers
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

// chunks returns the values to write, from chunk number next on, valid until the log changes.
func (l *chunkLog) chunks(next uint32, seed uint64) [][]byte {
	for i, b := range l.bufs {
		binary.LittleEndian.PutUint64(b, xxh3.HashSeed(b[8:], seed+uint64(next)+uint64(i)))
	}
	return l.bufs
}

// wal holds the keys added since the last checkpoint, as encoded in the file.
type wal struct {
	chunkLog
	n int // keys
}

// add appends a document's keys and returns their encoding, valid until the next add.
func (l *wal) add(doc uint32, keys []uint64) []byte {
	buf, begun := l.last(chunkHead)
	if begun {
		binary.LittleEndian.PutUint32((*buf)[8:], doc)
	}
	at := len(*buf)
	*buf = appendKeys(*buf, keys)
	binary.LittleEndian.PutUint32((*buf)[12:], binary.LittleEndian.Uint32((*buf)[12:])+1)
	l.n += len(keys)
	return (*buf)[at:]
}

func appendKeys(b []byte, keys []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(keys)))
	from := len(b)
	b = slices.Grow(b, 8*len(keys))[:from+8*len(keys)]
	for i, k := range keys {
		binary.LittleEndian.PutUint64(b[from+8*i:], k)
	}
	return b
}

// replayChunk calls f for each document of a chunk. The first must be document next. It returns the
// number that follows the last.
func replayChunk(b []byte, chunk, next uint32, f func(doc uint32, keys []uint64) error) (uint32, error) {
	if len(b) < chunkHead || xxh3.HashSeed(b[8:], seedPending+uint64(chunk)) != binary.LittleEndian.Uint64(b) {
		return 0, damage("wrong checksum of pending chunk %d", chunk)
	}
	in := &fields.Reader{Rest: b[8:]}
	first, n := in.Uint32(), in.Uint32()
	if first != next {
		return 0, damage("pending chunk %d starts at document %d, not %d", chunk, first, next)
	}
	var keys []uint64
	for i := range n {
		count := in.Uvarint()
		if in.Short || count > uint64(len(in.Rest))/8 {
			return 0, damage("pending chunk %d is cut short", chunk)
		}
		keys = keys[:0]
		for range count {
			keys = append(keys, in.Uint64())
		}
		if err := f(first+i, keys); err != nil {
			return 0, err
		}
	}
	if len(in.Rest) != 0 {
		return 0, damage("pending chunk %d has a wrong length", chunk)
	}
	return first + n, nil
}

// replayPending calls f for each document with pending keys, and checks that none is missing.
func (h *header) replayPending(pend *bbolt.Bucket, f func(doc uint32, keys []uint64) error) (err error) {
	next, total := h.flushed+1, uint64(0)
	for chunk := range h.chunks {
		value := pend.Get(binKey(uint64(chunk)))
		willNeed(value)
		willNeed(pend.Get(binKey(uint64(chunk) + 1)))
		next, err = replayChunk(value, chunk, next, func(doc uint32, keys []uint64) error {
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

// Since calls f, if not nil, with the keys of each document in the file after number docs, without
// those of documents that only count. It returns false, and calls nothing, if content is not the
// digest of the documents up to docs, or if some later keys are in runs already.
func (t *Table) Since(docs uint32, content uint64, f func(keys []uint64)) (ok bool, err error) {
	if docs < t.head.flushed || docs >= t.head.docs {
		return docs == t.head.docs && content == t.head.content, nil
	}
	err = t.look(func(s *snapshot) error {
		var buf []byte
		later := func(each func(doc uint32, keys []uint64) error) error {
			return t.head.replayPending(s.tx.Bucket(bucketPend), func(doc uint32, keys []uint64) error {
				if doc <= docs {
					return nil
				}
				return each(doc, keys)
			})
		}
		err := later(func(doc uint32, keys []uint64) error {
			rec, err := t.record(doc)
			buf = appendKeys(buf[:0], keys)
			content = digest(content, rec, buf)
			return err
		})
		if ok = err == nil && content == t.head.content; !ok || f == nil {
			return err
		}
		return later(func(doc uint32, keys []uint64) error {
			if !t.tombstones.counted.has(doc) {
				f(keys)
			}
			return nil
		})
	})
	return ok && err == nil, wrap(err, "reading pending keys")
}

// Pends reports whether the documents after number docs are pending, and are still so after a
// checkpoint without another document.
func (t *Table) Pends(docs uint32) bool { return docs >= t.head.flushed && !t.flushes() }

// These lengths of an encoded block close it. bbolt puts two values in one run of pages, so an open
// for writing reads one page in 17. In a window, free pages lie scattered between longer runs of
// pages, and blocks of several pages left an eighth of the file unused. There, two fill one page.
const (
	blockBytes       = 32 << 10
	windowBlockBytes = (pageSize-16)/2 - 20 // of a page's head, and of an element and its key

	blockHead = 16 // bytes before the ends
)

// A Doc is the part of a document that the table stores.
type Doc struct {
	ID   string // the owner's id; may be empty, need not be unique
	Data []byte // the owner's; opaque to the table
}

func appendRecord(b []byte, num uint32, id string, data []byte) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.AppendUvarint(b, uint64(len(data)))
	b = append(b, data...)
	b = append(b, id...)
	sum := xxh3.HashSeed(b[at+4:], seedDoc+uint64(num))
	binary.LittleEndian.PutUint32(b[at:], uint32(sum))
	return b
}

func splitRecord(b []byte, num uint32) (id, data []byte, err error) {
	if len(b) < 4 || uint32(xxh3.HashSeed(b[4:], seedDoc+uint64(num))) != binary.LittleEndian.Uint32(b) {
		return nil, nil, damage("wrong checksum of document %d", num)
	}
	n, at := binary.Uvarint(b[4:])
	if at <= 0 || n > uint64(len(b)-4-at) {
		return nil, nil, damage("document %d is cut short", num)
	}
	rest := b[4+at:]
	return rest[n:], rest[:n:n], nil
}

// docBlock collects consecutive documents.
type docBlock struct {
	first uint32
	ends  []uint32
	recs  []byte
}

func (k *docBlock) next() uint32 { return k.first + uint32(len(k.ends)) }

// add adds a record to a block of at most that length. If the block must be closed first, it does
// nothing and returns false.
func (k *docBlock) add(rec []byte, most int) bool {
	if n := len(k.ends); n > 0 && blockHead+4*(n+1)+len(k.recs)+len(rec) > most {
		return false
	}
	k.recs = append(k.recs, rec...)
	k.ends = append(k.ends, uint32(len(k.recs)))
	return true
}

func (k *docBlock) record(i int) []byte {
	if i == 0 {
		return k.recs[:k.ends[0]]
	}
	return k.recs[k.ends[i-1]:k.ends[i]]
}

func (k *docBlock) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, blockHead+4*len(k.ends)+len(k.recs))
	b = le.AppendUint32(b, k.first)
	b = le.AppendUint32(b, uint32(len(k.ends)))
	b = le.AppendUint64(b, 0)
	for _, e := range k.ends {
		b = le.AppendUint32(b, e)
	}
	le.PutUint64(b[8:], xxh3.HashSeed(b[16:], blockSum(k.first, len(k.ends))))
	return append(b, k.recs...)
}

func blockSum(first uint32, n int) uint64 { return seedBlock + uint64(first)<<24 + uint64(n) }

// holdsRecord reports whether an encoded block says that it has document num.
func holdsRecord(b []byte, num uint32) bool {
	return len(b) >= 16 && num-binary.LittleEndian.Uint32(b) < binary.LittleEndian.Uint32(b[4:])
}

// blockRecord returns the record of document num in an encoded block. splitRecord verifies it.
func blockRecord(b []byte, num uint32) ([]byte, error) {
	if len(b) < 16 {
		return nil, damage("the block of document %d is cut short", num)
	}
	first, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	i := uint64(num) - uint64(first)
	if num < first || i >= uint64(n) || uint64(len(b)) < 16+4*uint64(n) {
		return nil, damage("document %d is not in its block", num)
	}
	recs := b[16+4*int(n):]
	start, end := uint32(0), binary.LittleEndian.Uint32(b[16+4*i:])
	if i > 0 {
		start = binary.LittleEndian.Uint32(b[16+4*i-4:])
	}
	if start > end || uint64(end) > uint64(len(recs)) {
		return nil, damage("document %d is not in its block", num)
	}
	return recs[start:end], nil
}

// decodeBlock checks a whole block and returns it, ready for more documents.
func decodeBlock(b []byte, first uint32) (*docBlock, error) {
	if len(b) < 16 || binary.LittleEndian.Uint32(b) != first {
		return nil, damage("the block of document %d belongs to another document", first)
	}
	n := int(binary.LittleEndian.Uint32(b[4:]))
	if n == 0 || len(b) < 16+4*n {
		return nil, damage("the block of document %d is cut short", first)
	}
	if xxh3.HashSeed(b[16:16+4*n], blockSum(first, n)) != binary.LittleEndian.Uint64(b[8:]) {
		return nil, damage("wrong checksum of the block of document %d", first)
	}
	k := &docBlock{first: first}
	for i := range n {
		rec, err := blockRecord(b, first+uint32(i))
		if err != nil {
			return nil, err
		}
		if len(rec) > 0 { // documents taken back have none
			if _, _, err := splitRecord(rec, first+uint32(i)); err != nil {
				return nil, err
			}
		}
		k.recs = append(k.recs, rec...)
		k.ends = append(k.ends, uint32(len(k.recs)))
	}
	if 16+4*n+len(k.recs) != len(b) {
		return nil, damage("the block of document %d has a wrong length", first)
	}
	return k, nil
}

// docLog holds the documents added since the last checkpoint, and the whole block of the first one.
type docLog struct {
	blocks []docBlock // the last one is open
	bytes  int        // of the records in the others
	most   int        // length of a block
	last   []byte     // record added
}

// resize sets the length of later blocks, for a table with a window of that many seconds, or none.
func (l *docLog) resize(window uint32) {
	if l.most = blockBytes; window > 0 {
		l.most = windowBlockBytes
	}
}

// begin makes a block the only one.
func (l *docLog) begin(k docBlock) { l.blocks = append(l.blocks[:0], k) }

func (l *docLog) open() *docBlock { return &l.blocks[len(l.blocks)-1] }

// size returns the memory of the records and their end offsets.
func (l *docLog) size() int { return l.bytes + len(l.open().recs) + 4*len(l.open().ends) }

// add appends a document and returns its record, valid until the next add.
func (l *docLog) add(id string, data []byte) []byte {
	l.last = appendRecord(l.last[:0], l.open().next(), id, data)
	l.addRecord(l.last)
	return l.last
}

func (l *docLog) addRecord(rec []byte) {
	if !l.open().add(rec, l.most) {
		l.closeBlock()
		l.open().add(rec, l.most)
	}
}

// closeBlock makes the next document begin a block.
func (l *docLog) closeBlock() {
	k := l.open()
	if len(k.ends) == 0 {
		return
	}
	l.bytes = l.size()
	// Blocks have similar lengths. This capacity avoids copying them as they grow.
	l.blocks = append(l.blocks, docBlock{
		first: k.next(),
		ends:  make([]uint32, 0, len(k.ends)+len(k.ends)/8),
		recs:  make([]byte, 0, l.most),
	})
}

func (l *docLog) write(c *change) {
	for i := range l.blocks {
		if k := &l.blocks[i]; len(k.ends) > 0 {
			c.add(bucketDocs, uint64(k.first), k.encode())
		}
	}
	c.tx.OnCommit(func() {
		l.begin(*l.open())
		l.bytes = 0
	})
}

func (l *docLog) record(num uint32) []byte {
	i := sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].first > num })
	k := &l.blocks[i-1]
	return k.record(int(num - k.first))
}
