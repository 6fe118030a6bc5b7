package docmap

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"go.etcd.io/bbolt"
)

// A window limits how long documents count: design rule 12, and docs/format.md, "Slices of a
// window". Its zero value limits nothing.
type window struct {
	length uint32 // seconds; 0 for none
	clock  uint32 // latest time of a judged document
	edge   uint32 // documents of earlier times do not count
	slices []timeSlice
	due    bool // the next document begins a slice
}

// A timeSlice is a range of documents and their times.
type timeSlice struct {
	first  uint32 // first document; the last one precedes the next slice's first
	begun  uint32 // the clock at that document; now, if there is none yet
	newest uint32 // latest time of its documents
	times  times
	edges  []edgeMove // ascending; the first is at document first
}

// An edgeMove is the edge from a document on.
type edgeMove struct{ doc, edge uint32 }

const (
	sliceShare = 8    // the number of slices that begin during a window, at most
	edgeShare  = 4096 // the number of edge moves during a window, at most
)

func (w *window) watermark() uint32 {
	if len(w.slices) == 0 {
		return 1
	}
	return w.slices[0].first
}

func (w *window) first(num uint32) uint32 {
	if len(w.slices) == 0 {
		return 1
	}
	return w.slices[w.sliceOf(num)].first
}

// last returns the last document of num's slice, in a table of docs documents.
func (w *window) last(num, docs uint32) uint32 {
	if i := w.sliceOf(num) + 1; i < len(w.slices) {
		return w.slices[i].first - 1
	}
	return docs
}

func (w *window) open() *timeSlice { return &w.slices[len(w.slices)-1] }

// sliceOf returns the position in w.slices of a document at or above the watermark.
func (w *window) sliceOf(num uint32) int {
	i := len(w.slices) - 1
	for i > 0 && w.slices[i].first > num {
		i--
	}
	return i
}

func (w *window) expired(num uint32) bool { return w.length > 0 && w.older(num, w.edge) }

// older reports whether a document's time is before edge, or its number below the watermark.
func (w *window) older(num, edge uint32) bool {
	if num < w.watermark() {
		return true
	}
	s := &w.slices[w.sliceOf(num)]
	return s.times.at(int(num-s.first)) < edge
}

// edgeAt returns the edge at the arrival of a document at or above the watermark.
func (w *window) edgeAt(doc uint32) uint32 {
	s := &w.slices[w.sliceOf(doc)]
	if uint64(doc-s.first) >= uint64(s.times.n) {
		return w.edge
	}
	i := sort.Search(len(s.edges), func(i int) bool { return s.edges[i].doc > doc })
	return s.edges[i-1].edge
}

func (w *window) advance(time uint32) {
	w.clock = max(w.clock, time)
	if w.clock > w.length {
		edge := w.clock - w.length
		w.edge = max(w.edge, edge-edge%max(1, w.length/edgeShare))
	}
	s := w.open()
	if s.times.n == 0 {
		s.begun = w.clock
	}
	w.due = w.due || w.clock-s.begun >= max(1, w.length/sliceShare)
}

func (w *window) add(num, time uint32) {
	s := w.open()
	if n := len(s.edges); n == 0 || s.edges[n-1].edge != w.edge {
		s.edges = append(s.edges, edgeMove{num, w.edge})
	}
	s.times.add(time)
	s.newest = max(s.newest, time)
}

// next returns the slices after the next checkpoint, at which document num may begin one. It leaves
// out the oldest expired ones: the edge passes a slice soon after the ninth one begins.
func (w *window) next(num uint32) []timeSlice {
	list := slices.Clone(w.slices)
	if w.due {
		list = append(list, timeSlice{first: num, begun: w.clock})
	}
	for len(list) > 1 && w.passed(&list[0]) {
		list = list[1:]
	}
	return list
}

// passed reports whether all documents of a slice have expired.
func (w *window) passed(s *timeSlice) bool { return s.times.n == 0 || s.newest < w.edge }

// drops reports whether the next checkpoint drops a slice even if it begins none.
func (w *window) drops() bool { return len(w.slices) > 1 && w.passed(&w.slices[0]) }

// SetWindow makes documents count for the given seconds, 1 or more, by the clock that Advance
// moves. Expired documents stay expired. The next checkpoint makes the window durable. A table with
// documents without times, because it had no window, gives an error.
func (t *Table) SetWindow(seconds uint32) error {
	err := t.writable()
	w := &t.tombstones.win
	switch {
	case err != nil:
	case seconds == 0:
		err = errors.New("want one second or more")
	case w.length == 0 && t.docs > 0:
		err = errors.New("it has documents without times")
	}
	if err != nil {
		return fmt.Errorf("setting the window: %w", err)
	}
	if t.version++; w.length == 0 {
		w.slices = []timeSlice{{first: 1}}
	}
	w.length = seconds
	t.recs.resize(seconds)
	t.watchTombstones()
	return nil
}

// Window returns the seconds for which documents count; 0 means forever. clock is the latest time
// given to Advance. Documents with times before edge do not count. Times are in Unix seconds.
func (t *Table) Window() (seconds, clock, edge uint32) {
	w := &t.tombstones.win
	return w.length, w.clock, w.edge
}

// First returns the first document that may be present: slices before it were dropped.
func (t *Table) First() uint32 { return t.head.win.watermark() }

// Advance moves the clock to the time of the next document, before its look-up. A late document
// does not count and must not be added. If BeginsSlice then returns true, a checkpoint must precede
// adding the document. Without a window, Advance does nothing.
func (t *Table) Advance(time uint32) (late bool) {
	w := &t.tombstones.win
	if w.length == 0 {
		return false
	}
	t.version++
	w.advance(time)
	return time < w.edge
}

// BeginsSlice reports whether the next document begins a slice and so needs a checkpoint first.
func (t *Table) BeginsSlice() bool { return t.tombstones.win.due }

// Steady returns the range of document times that are not late and move neither the edge nor the
// slice. Such documents can be looked up together. If the range is empty, last is before first.
func (t *Table) Steady() (first, last uint32) {
	w := &t.tombstones.win
	switch {
	case w.length == 0:
		return 0, math.MaxUint32
	case w.due || w.open().times.n == 0: // the slice begins with the first document kept
		return 1, 0
	}
	step := uint64(max(1, w.length/edgeShare))
	moves := (uint64(w.edge)/step+1)*step + uint64(w.length)
	ends := uint64(w.open().begun) + uint64(max(1, w.length/sliceShare))
	if last = uint32(min(moves, ends, math.MaxUint32+1) - 1); last < w.clock {
		return 1, 0 // the window is shorter than it was when edge and slice were set
	}
	return w.edge, last
}

func (t *Table) addTimes(n int, times []uint32) error {
	w := &t.tombstones.win
	switch {
	case w.length == 0 || n == 0:
		return nil
	case w.due && w.open().times.n > 0:
		return errors.New("a checkpoint is due, to begin the next slice")
	case len(times) != n:
		return fmt.Errorf("%d documents with %d times", n, len(times))
	case slices.Min(times) < w.edge:
		return fmt.Errorf("documents with time %d are older than the window, which begins at %d", slices.Min(times), w.edge)
	}
	for i, time := range times {
		w.add(t.docs+1+uint32(i), time)
	}
	return nil
}

// rotate begins a slice if one is due. It puts the new slices into next and removes the runs of
// dropped ones. all reports that every earlier slice is dropped.
func (t *Table) rotate(next *header) (all bool) {
	w := &t.tombstones.win
	if w.length == 0 {
		return false
	}
	next.needs |= needsWindow
	next.win = window{length: w.length, clock: w.clock, edge: w.edge, slices: w.next(t.docs + 1)}
	if w.due {
		all = len(next.win.slices) == 1
		t.recs.closeBlock()
		next.openBlock = 0
	}
	for i := range next.runs {
		next.runs[i] = slices.DeleteFunc(slices.Clone(next.runs[i]), func(r *run) bool {
			return r.first < next.win.watermark()
		})
	}
	return all
}

func (t *Table) rotated() {
	w := &t.tombstones.win
	if len(w.slices) == len(t.head.win.slices) && !w.due {
		return
	}
	w.slices, w.due = slices.Clone(t.head.win.slices), false
	t.tombstones.dropBelow(w.watermark())
	t.batches.dropBelow(w.watermark())
}

// sweepSlices removes the remains of dropped slices, in transactions of bounded size.
func (t *Table) sweepSlices() error {
	if t.head.needs&needsWindow == 0 {
		return t.sweep()
	}
	mark := t.head.win.watermark()
	before := func(key, _ []byte) (gone, more bool) {
		gone = bytes.Compare(key, binKey(uint64(mark))) < 0
		return gone, gone
	}
	chunk := func(_, value []byte) (gone, more bool) {
		gone, err := removedBefore(value, mark)
		return gone && err == nil, gone && err == nil
	}
	return errors.Join(
		t.sweep(), t.sweepRanges(&deadList, mark), t.sweepRanges(&countedList, mark), t.sweepBatches(),
		t.sweepKeys(bucketDocs, before), t.sweepKeys(bucketTime, before), t.sweepKeys(bucketRemoved, chunk),
	)
}

// sweptBytes divides the values of a transaction into the keys that one removes: 2048.
const sweptBytes = 2 << 10

// sweepKeys removes the keys that judge calls gone, in transactions of bounded size. It reads keys
// in order as long as judge expects more.
func (t *Table) sweepKeys(name []byte, judge func(key, value []byte) (gone, more bool)) error {
	// Each commit writes the list of free pages, as in mostValues.
	most := max(1, t.sizes.sliceBytes/sweptBytes)
	for full := true; full; {
		s, err := t.reading()
		if err != nil {
			return err
		}
		var keys [][]byte
		for key, value := range entries(s.tx.Bucket(name), nil) {
			gone, more := judge(key, value)
			if gone {
				keys = append(keys, bytes.Clone(key))
			}
			if full = len(keys) == most; full || !more {
				break
			}
		}
		if len(keys) == 0 {
			return nil
		}
		err = t.updateStep(func(c *change) {
			for _, key := range keys {
				c.delete(name, key)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) sweepRanges(l *rangeList, mark uint32) error {
	return t.sweepKeys(l.bucket, func(key, value []byte) (gone, more bool) {
		ranges, err := l.decode(key, value, t.head.docs) // opening the table decoded it
		n := len(ranges)
		return err == nil && n > 0 && ranges[n-1].last < mark, true
	})
}

// sweepBatches stores batches without documents below the watermark. A Stepwise table leaves this
// to the next checkpoint: by then it may have documents without a checkpoint.
func (t *Table) sweepBatches() error {
	if len(t.batches.dirty) == 0 || t.opt.Stepwise {
		return nil
	}
	return t.update(t.batches.write)
}

// sweep removes run buckets that no record names, left by a crash or by a dropped slice.
func (t *Table) sweep() error {
	known := make(map[string]bool)
	for i := range t.spaces {
		for _, r := range t.spaces[i].runs {
			known[string(r.bucket())] = true
		}
	}
	var stray [][]byte
	s, err := t.reading()
	if err != nil {
		return err
	}
	err = s.tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if bytes.HasPrefix(name, []byte("run")) && !known[string(name)] {
			stray = append(stray, bytes.Clone(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range stray {
		if err := t.sweepKeys(name, func(_, _ []byte) (gone, more bool) { return true, true }); err != nil {
			return err
		}
		if err := t.updateStep(func(c *change) { c.drop(name) }); err != nil {
			return err
		}
	}
	return nil
}
