package docmap

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// windowSequences is the number of random sequences of TestWindowEqualsOracle.
var windowSequences = flag.Int("windows", 14, "random sequences of TestWindowEqualsOracle")

// TestWindowEqualsOracle compares any adding, taking back, saving and crashing with rule 12.
func TestWindowEqualsOracle(t *testing.T) {
	t.Parallel()
	n := *windowSequences
	if testing.Short() {
		n = min(n, 10)
	}
	dir := t.TempDir()
	rolled, crashes, grouped, compacted := 0, 0, 0, 0
	for seed := range n {
		w := goThrough(t, filepath.Join(dir, "table"), rand.New(rand.NewPCG(uint64(seed), 16)), seed%5 == 3)
		rolled, crashes, grouped = rolled+w.rolled, crashes+w.crashes, grouped+w.grouped
		compacted += w.compacted
		if t.Failed() {
			t.Fatalf("in sequence %d", seed)
		}
	}
	did := fmt.Sprintf("slices were dropped %d times, %d crashes, %d documents added together, compacted %d times", rolled, crashes, grouped, compacted)
	t.Log(did)
	if rolled < n || crashes < n || grouped < 10*n || compacted < n/2 {
		t.Fatal(did + ": too few to mean anything")
	}
}

// windowRun applies a random sequence to a table and its oracle.
type windowRun struct {
	r           *rand.Rand
	table       *Table
	want, saved *windowOracle
	space       int    // of keys; a small one makes keys collide
	pace, late  uint32 // greatest steps of times forward and back, in seconds
	fashion     uint64 // current origin of keys, which come and go
	disorder    int    // documents of four that come late
	rolled      int    // number of dropped slices
	grouped     int    // documents added together with others
	compacted   int    // number of compactions
	crash       bool   // whether to check the effect of a crash after every transaction
	commits     int
	crashes     int
}

func goThrough(t *testing.T, path string, r *rand.Rand, crash bool) *windowRun {
	defer os.Remove(path)
	opt := smallOptions
	opt.MemtableKeys = []int{20, 60, 300}[r.IntN(3)]
	names := slices.Sorted(maps.Keys(smallSizes))
	opt.sizes = smallSizes[names[r.IntN(len(names))]]
	opt.Stepwise = r.IntN(2) == 0
	window := []uint32{1, 7, 50, 400, 20_000}[r.IntN(5)]
	w := &windowRun{
		r: r, want: newWindowOracle(window), space: 1 + r.IntN(60), crash: crash, disorder: r.IntN(4),
		pace: 1 + window/[]uint32{1000, 300, 80, 8}[r.IntN(4)], late: 1 + window/[]uint32{1000, 8, 1}[r.IntN(3)],
	}
	w.saved = w.want.clone()
	var err error
	w.table, err = Open(path, opt)
	must(t, err)
	defer func() { must(t, w.table.Close()) }()
	must(t, w.table.SetWindow(window))
	must(t, w.table.Checkpoint(nil))
	for range 15 + r.IntN(50) {
		switch op := r.IntN(20); {
		case op < 12:
			for range 1 + r.IntN(20) {
				w.judge(t)
			}
			w.together(t)
		case op == 12:
			pause := r.Uint32N(window + 1)
			w.fashion += uint64(r.IntN(2))
			if r.IntN(4) == 0 {
				pause += window
			}
			w.want.advance(w.want.clock + pause) // by a document that is removed
			w.table.Advance(w.want.clock)
		case op < 15 && len(w.want.docs) > 0:
			num := 1 + r.Uint32N(uint32(len(w.want.docs)))
			for ; num <= uint32(len(w.want.docs)) && r.IntN(4) > 0; num++ {
				if !w.want.docs[num-1].dead {
					w.want.takeBack(num)
				}
				_, err := w.table.Forget([]uint32{num})
				must(t, err)
			}
		case op == 15:
			if r.IntN(3) == 0 {
				w.checkpoint(t)
				must(t, w.table.Compact(context.Background()))
				w.compacted++
			}
			must(t, w.table.Close())
			w.table, err = Open(path, opt)
			must(t, err)
			w.want = w.saved.clone()
			if r.IntN(3) == 0 { // with another window
				w.want.window = 1 + r.Uint32N(2*window)
				must(t, w.table.SetWindow(w.want.window))
			}
			must(t, w.table.SetBatch(fmt.Sprint("batch-", r.IntN(5))))
		default:
			w.checkpoint(t)
		}
		if r.IntN(6) == 0 {
			w.want.equal(t, w.table)
		}
	}
	w.want.equal(t, w.table)
	return w
}

func (w *windowRun) drawTime() uint32 {
	time := w.want.clock + w.r.Uint32N(w.pace+1)
	if w.r.IntN(4) < w.disorder {
		time -= min(time, w.r.Uint32N(w.late+1))
	}
	return time
}

// together adds several documents to one slice at once.
func (w *windowRun) together(t *testing.T) {
	var ids []string
	var data [][]byte
	var keys [][]uint64
	var times []uint32
	for range 2 * sharedDocs {
		time := w.drawTime()
		if first, last := w.table.Steady(); w.table.Full() || time < first || time > last {
			break
		}
		edge, slice := w.want.edge, w.want.slice
		if w.want.advance(time) || w.table.Advance(time) || w.want.edge != edge {
			t.Fatalf("the edge goes from %d to %d with a document of %d", edge, w.want.edge, time)
		}
		if w.r.IntN(5) == 0 {
			continue // not added
		}
		id, has := fmt.Sprint("id-", w.r.IntN(200)), fewKeys(w.r, w.space)
		w.want.add(id, time, has)
		if w.want.slice != slice {
			t.Fatalf("a slice begins with a document of %d", time)
		}
		ids, data, keys, times = append(ids, id), append(data, binary.LittleEndian.AppendUint32(nil, time)), append(keys, has), append(times, time)
	}
	_, err := w.table.Add(ids, data, keys, times, nil)
	must(t, err)
	w.grouped += len(ids)
}

// judge looks up a document, and keeps or removes it.
func (w *windowRun) judge(t *testing.T) {
	time := w.drawTime()
	late := w.want.advance(time)
	if got := w.table.Advance(time); got != late {
		t.Fatalf("a document of %d: late %v, want %v", time, got, late)
	}
	if w.table.Full() {
		w.checkpoint(t)
	}
	if late || w.r.IntN(5) == 0 {
		if n := uint32(len(w.want.docs)); n > 0 {
			w.table.NoteRemoved(1+w.r.Uint32N(n), "removed")
		}
		return // not added
	}
	id := fmt.Sprint("id-", w.r.IntN(200))
	keys := fewKeys(w.r, w.space)
	for i := range keys {
		keys[i] += w.fashion
	}
	w.want.add(id, time, keys)
	_, err := w.table.Add([]string{id}, [][]byte{binary.LittleEndian.AppendUint32(nil, time)}, [][]uint64{keys}, []uint32{time}, nil)
	must(t, err)
}

func (w *windowRun) checkpoint(t *testing.T) {
	before, next := w.saved, w.want.clone()
	seq, mark := w.table.head.seq, w.table.head.win.watermark()
	if w.crash {
		w.table.committed = func() {
			if w.commits++; w.commits%11 > 0 {
				return
			}
			crashed := w.table.path + "-crashed"
			copyFile(t, w.table.path, crashed)
			c, err := Open(crashed, w.table.opt)
			must(t, err)
			want := before
			if c.head.seq > seq {
				want = next
			}
			w.crashes++
			want.equal(t, c)
			nothingLeft(t, c)
			must(t, c.Close())
		}
	}
	must(t, w.table.Checkpoint(nil))
	w.table.committed = nil
	w.saved = next
	if w.r.IntN(2) == 0 {
		must(t, w.table.finishSteps())
	}
	if len(w.table.steps.owed) == 0 {
		nothingLeft(t, w.table)
	}
	if w.table.head.win.watermark() > mark {
		w.rolled++
	}
}

// nothingLeft checks that the file has nothing below the watermark.
func nothingLeft(t *testing.T, table *Table) {
	t.Helper()
	s, err := table.reading()
	must(t, err)
	mark := table.head.win.watermark()
	for _, name := range [][]byte{bucketDocs, bucketTime} {
		if b := s.tx.Bucket(name); b != nil {
			if key, _ := b.Cursor().First(); key != nil && binary.BigEndian.Uint32(key) < mark {
				t.Fatalf("bucket %s has %x, below %d", name, key, mark)
			}
		}
	}
	buckets := 0
	must(t, s.tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if strings.HasPrefix(string(name), "run") {
			buckets++
		}
		return nil
	}))
	runs := table.Runs()
	if buckets != len(runs) {
		t.Fatalf("%d buckets of runs, %d runs", buckets, len(runs))
	}
	for _, r := range runs {
		if r.First < mark || table.head.win.first(r.First) != table.head.win.first(r.Last) {
			t.Fatalf("a run of documents %d to %d, slices %v", r.First, r.Last, table.head.win.slices)
		}
	}
	must(t, s.tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if string(name) == "batch" {
			return b.ForEach(func(name, value []byte) error {
				list, err := decodeSpans(string(name[4:]), value, table.head.docs)
				if err == nil && list[0].first < mark && !table.opt.Stepwise { // the next checkpoint drops those
					t.Fatalf("batch %s has %v, below %d", name, list, mark)
				}
				return err
			})
		}
		if key, value := b.Cursor().First(); string(name) == "removed" && key != nil {
			if gone, err := removedBefore(value, mark); gone || err != nil {
				t.Fatalf("a chunk of documents removed for the sake of others below %d is there: %v", mark, err)
			}
		}
		return nil
	}))
	for _, g := range table.tombstones.old {
		if g.last < mark {
			t.Fatalf("documents %d to %d are listed, below %d", g.first, g.last, mark)
		}
	}
}

// TestEdgeMovesInSteps checks that steps are 1/4096 of the window, but at least a second.
func TestEdgeMovesInSteps(t *testing.T) {
	for _, c := range []struct{ length, clock, edge, next uint32 }{
		{7, 100, 93, 101},
		{8191, 100_001, 91_810, 100_002},
		{8192, 100_001, 91_808, 100_002},
		{86_400, 1_000_000, 913_584, 1_000_005},
		{172_800, 1_600_000_000, 1_599_827_166, 1_600_000_008},
		{31_536_000, 1_600_000_000, 1_568_463_377, 1_600_007_076},
	} {
		w := window{length: c.length, slices: []timeSlice{{first: 1}}}
		if w.advance(c.clock); w.edge != c.edge {
			t.Errorf("of %d seconds at %d it is at %d, want %d", c.length, c.clock, w.edge, c.edge)
		}
		if w.advance(c.next - 1); w.edge != c.edge {
			t.Errorf("of %d seconds at %d it is at %d", c.length, c.next-1, w.edge)
		}
		if w.advance(c.next); w.edge == c.edge {
			t.Errorf("of %d seconds at %d it is where it was", c.length, c.next)
		}
	}
}

// TestEdgeAtEveryDocument checks the edge at each document and at the next.
func TestEdgeAtEveryDocument(t *testing.T) {
	w := window{length: 10, slices: []timeSlice{{first: 1}}}
	want := map[uint32]uint32{1: 90, 2: 90, 3: 91, 4: 95, 5: 95, 6: 97}
	for i, time := range []uint32{100, 100, 101, 105, 102} {
		w.advance(time)
		w.add(uint32(i+1), time)
	}
	w.advance(107)
	for doc, edge := range want {
		if got := w.edgeAt(doc); got != edge {
			t.Errorf("at document %d: %d, want %d", doc, got, edge)
		}
	}
}

// TestRemovedBefore checks that a chunk stays as long as it has an entry for a present document.
func TestRemovedBefore(t *testing.T) {
	var l removedLog
	l.add(Removed{3, "a", "x"})
	l.add(Removed{5, "", "y"})
	for mark, want := range map[uint32]bool{1: false, 4: false, 5: false, 6: true} {
		if got, err := removedBefore(l.bufs[0], mark); got != want || err != nil {
			t.Errorf("below %d: %v, %v", mark, got, err)
		}
	}
}

// TestWindowRecord checks that windows in records are read back, and refused if contradictory.
func TestWindowRecord(t *testing.T) {
	good := func() *window {
		return &window{length: 10, clock: 30, edge: 20, slices: []timeSlice{{first: 1, begun: 5, newest: 9}, {first: 4, begun: 12, newest: 25}, {first: 9, begun: 30, newest: 30}}}
	}
	if got, err := decodeWindow(good().encode(), 8); err != nil || !reflect.DeepEqual(got, *good()) {
		t.Errorf("%+v, %v", got, err)
	}
	for what, change := range map[string]func(i *window){
		"no length":                      func(i *window) { i.length = 0 },
		"an edge behind the clock":       func(i *window) { i.edge = 31 },
		"no slice":                       func(i *window) { i.slices = nil },
		"two slices of one document":     func(i *window) { i.slices[1].first = 1 },
		"slices in another order":        func(i *window) { i.slices[1], i.slices[2] = i.slices[2], i.slices[1] },
		"only their documents are so":    func(i *window) { i.slices[1].first, i.slices[2].first = 9, 4 },
		"a slice of no document":         func(i *window) { i.slices[0].first = 0 },
		"a slice behind the last":        func(i *window) { i.slices[2].first = 10 },
		"a slice begun before the first": func(i *window) { i.slices[1].begun = 4 },
		"a slice yet to begin":           func(i *window) { i.slices[2].begun = 31 },
		"a document yet to come":         func(i *window) { i.slices[2].newest = 31 },
	} {
		i := good()
		change(i)
		if got, err := decodeWindow(i.encode(), 8); err == nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
	for _, b := range [][]byte{good().encode()[:15], good().encode()[:len(good().encode())-1], append(good().encode(), 0)} {
		if _, err := decodeWindow(b, 8); err == nil {
			t.Errorf("%d bytes", len(b))
		}
	}
}

// TestTimesOnDisk checks that the times in the file are read back for the same documents.
func TestTimesOnDisk(t *testing.T) {
	w := window{length: 10, slices: []timeSlice{{first: 1}}}
	for i, time := range []uint32{100, 103, 101, 120, 115} {
		w.advance(time)
		w.add(uint32(i+1), time)
	}
	load := func(value []byte, first uint32, n int) ([]uint32, error) {
		to := window{length: 10, clock: w.clock, edge: w.edge, slices: []timeSlice{{first: first, newest: 120}}}
		err := to.loadTimes(value, first, n)
		var all []uint32
		for i := range to.open().times.n {
			all = append(all, to.open().times.at(i), to.edgeAt(first+uint32(i)))
		}
		return all, err
	}
	value := w.encodeTimes(1, 5)
	if got, err := load(value, 1, 5); err != nil || !slices.Equal(got, []uint32{100, 90, 103, 93, 101, 93, 120, 110, 115, 110}) {
		t.Errorf("%v, %v", got, err)
	}
	for i := range value {
		wrong := slices.Clone(value)
		wrong[i] ^= 1
		if got, err := load(wrong, 1, 5); err == nil {
			t.Errorf("byte %d changed: %v", i, got)
		}
	}
	if got, err := load(value, 2, 5); err == nil {
		t.Errorf("as those of other documents: %v", got)
	}
	for _, n := range []int{4, 6} {
		if got, err := load(value, 1, n); err == nil {
			t.Errorf("%d of 5: %v", n, got)
		}
	}
}

// TestNewestOfASlice refuses a wrong newest time in a record: slices are dropped by that time.
func TestNewestOfASlice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	must(t, table.SetWindow(100))
	table.Advance(1000)
	_, err := table.Add([]string{"a"}, [][]byte{nil}, [][]uint64{{1}}, []uint32{1000}, nil)
	must(t, err)
	table.Advance(1010) // by a document that is not added
	must(t, table.Checkpoint(nil))
	next := table.head
	next.win.slices = slices.Clone(next.win.slices)
	next.win.slices[0].newest = 1005
	must(t, table.update(func(c *change) { c.head = next; table.putHeader(c, nil) }))
	must(t, table.Close())
	if table, err := Open(path, smallOptions); err == nil || !strings.Contains(err.Error(), "the newest document of the slice") {
		t.Errorf("%v", err)
		if err == nil {
			must(t, table.Close())
		}
	}
}
