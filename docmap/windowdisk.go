package docmap

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/base/hugemem"
)

const needsWindow = 1 << 0

var bucketTime = []byte("time")

// timeChunk is the number of documents in a chunk of times.
const timeChunk = 4096

func (w *window) encode() []byte {
	b := appendNumbers(nil, w.numbers())
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.slices)))
	for i := range w.slices {
		b = appendNumbers(b, w.slices[i].numbers())
	}
	return b
}

func (w *window) numbers() []any    { return []any{&w.length, &w.clock, &w.edge} }
func (s *timeSlice) numbers() []any { return []any{&s.first, &s.begun, &s.newest} }

// decodeWindow parses the output of encode, for a table of docs documents.
func decodeWindow(b []byte, docs uint32) (w window, err error) {
	f := &fields.Reader{Rest: b}
	f.Into(w.numbers())
	n := f.Uint32()
	if f.Short || uint64(len(f.Rest)) != 12*uint64(n) || n == 0 || w.length == 0 || w.edge > w.clock {
		return w, damage("the window in the table record contradicts itself")
	}
	var before timeSlice
	for range n {
		var s timeSlice
		f.Into(s.numbers())
		bad := s.first <= before.first || s.first > docs+1 || s.begun < before.begun || s.begun > w.clock || s.newest > w.clock
		if bad {
			return w, damage("the slice of document %d contradicts itself", s.first)
		}
		w.slices = append(w.slices, s)
		before = s
	}
	return w, nil
}

// writeTimes stores the times of the open slice's documents after number saved.
func (w *window) writeTimes(c *change, saved uint32) {
	if w.length == 0 {
		return
	}
	s := w.open()
	at := 0
	if saved >= s.first {
		at = int(saved-s.first+1) / timeChunk * timeChunk
	}
	for ; at < s.times.n; at += timeChunk {
		first := s.first + uint32(at)
		c.add(bucketTime, uint64(first), w.encodeTimes(first, min(timeChunk, s.times.n-at)))
	}
}

func (w *window) encodeTimes(first uint32, n int) []byte {
	edge := w.edgeAt(first)
	b := binary.LittleEndian.AppendUint32(nil, edge)
	s := w.open()
	for i := range uint32(n) {
		now, time := w.edgeAt(first+i), s.times.at(int(first+i-s.first))
		b = binary.AppendUvarint(b, uint64(now-edge))
		b = binary.AppendUvarint(b, uint64(time-now))
		edge = now
	}
	return seal(b, seedTimes+uint64(first))
}

// loadTimes appends the times of a chunk of n documents to the open slice.
func (w *window) loadTimes(value []byte, first uint32, n int) error {
	body, ok := sealed(value, seedTimes+uint64(first))
	if !ok || len(body) < 4 {
		return damage("wrong checksum of the times from document %d on", first)
	}
	f := &fields.Reader{Rest: body}
	s, edge := w.open(), uint64(f.Uint32())
	for i := range n {
		edge += f.Uvarint()
		time := edge + f.Uvarint()
		before := uint64(0)
		if k := len(s.edges); k > 0 {
			before = uint64(s.edges[k-1].edge)
		}
		if f.Short || time < edge || time > uint64(s.newest) || edge > uint64(w.edge) || edge < before {
			return damage("the time of document %d contradicts the others", first+uint32(i))
		}
		if len(s.edges) == 0 || edge != before {
			s.edges = append(s.edges, edgeMove{first + uint32(i), uint32(edge)})
		}
		s.times.add(uint32(time))
	}
	if len(f.Rest) != 0 {
		return damage("the times from document %d on have a wrong length", first)
	}
	return nil
}

func readWindow(tx *bbolt.Tx, h *header) (w window, err error) {
	w = h.win
	w.slices = nil
	bucket := tx.Bucket(bucketTime)
	for _, s := range h.win.slices {
		w.slices = append(w.slices, timeSlice{first: s.first, begun: s.begun, newest: s.newest})
		next := uint64(h.win.last(s.first, h.docs)) + 1
		for at := uint64(s.first); at < next; at += timeChunk {
			var value []byte
			if bucket != nil {
				value = bucket.Get(binKey(at))
			}
			if err := w.loadTimes(value, uint32(at), int(min(timeChunk, next-at))); err != nil {
				return w, err
			}
		}
		newest := uint32(0)
		for at := range w.open().times.n {
			newest = max(newest, w.open().times.at(at))
		}
		if newest != s.newest {
			return w, damage("the newest document of the slice from document %d on does not have time %d", s.first, s.newest)
		}
	}
	return w, nil
}

// times holds the times of documents, in order. Its blocks lie outside the Go heap, whose limit
// does not allow for memory that grows with a window.
type times struct {
	blocks []*timeBlock
	n      int
}

// blockTimes is the number of times in a block of 256 KiB. The system allocates its pages when
// they are first written.
const blockTimes = 1 << 16

type timeBlock struct {
	list *[blockTimes]uint32
	mem  []byte // memory of list
}

func (t *times) add(time uint32) {
	if t.n%blockTimes == 0 {
		b := new(timeBlock)
		if mem, err := hugemem.Alloc(4 * blockTimes); err != nil {
			b.list = new([blockTimes]uint32) // on the heap
		} else {
			b.mem, b.list = mem, (*[blockTimes]uint32)(unsafe.Pointer(unsafe.SliceData(mem)))
			runtime.SetFinalizer(b, func(b *timeBlock) { _ = hugemem.Free(b.mem) }) // no caller for errors
		}
		t.blocks = append(t.blocks[:len(t.blocks):len(t.blocks)], b)
	}
	t.blocks[t.n/blockTimes].list[t.n%blockTimes] = time
	t.n++
}

func (t *times) at(i int) uint32 { return t.blocks[i/blockTimes].list[i%blockTimes] }
