package docmap

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// windowOracle is design rule 17 with maps, written from the rule: every document is
// there for ever, and who counts is told by its time.
type windowOracle struct {
	window, clock, edge uint32
	docs                []windowDoc
	slice               int    // of the next document
	begun               uint32 // the clock at the first document of that slice
	empty               bool   // it has none
	keys                map[uint64]map[int]*holding
}

type windowDoc struct {
	id    string
	time  uint32
	slice int
	keys  []uint64
	dead  bool // taken back, or below the edge once
}

func newWindowOracle(window uint32) *windowOracle {
	return &windowOracle{window: window, empty: true, keys: map[uint64]map[int]*holding{}}
}

func (o *windowOracle) clone() *windowOracle {
	c := *o
	c.docs = slices.Clone(o.docs)
	c.keys = map[uint64]map[int]*holding{}
	for k, by := range o.keys {
		c.keys[k] = map[int]*holding{}
		for s, h := range by {
			c.keys[k][s] = &holding{h.closed, slices.Clone(h.by)}
		}
	}
	return &c
}

// advance moves the clock for a document, and takes back who does not count any more.
func (o *windowOracle) advance(time uint32) (late bool) {
	o.clock = max(o.clock, time)
	step := max(1, o.window/4096)
	if o.clock > o.window {
		o.edge = max(o.edge, (o.clock-o.window)/step*step)
	}
	for i := range o.docs {
		if !o.docs[i].dead && o.docs[i].time < o.edge {
			o.takeBack(uint32(i + 1))
		}
	}
	return time < o.edge
}

func (o *windowOracle) takeBack(num uint32) {
	d := &o.docs[num-1]
	d.dead = true
	for _, k := range d.keys {
		h := o.keys[k][d.slice]
		if i := slices.Index(h.by, num); i >= 0 && !h.closed {
			h.by = slices.Delete(h.by, i, i+1)
		}
	}
}

func (o *windowOracle) add(id string, time uint32, keys []uint64) {
	if !o.empty && o.clock-o.begun >= max(1, o.window/8) {
		o.slice, o.empty = o.slice+1, true
	}
	if o.empty {
		o.begun, o.empty = o.clock, false
	}
	o.docs = append(o.docs, windowDoc{id: id, time: time, slice: o.slice, keys: keys})
	num := uint32(len(o.docs))
	for _, k := range keys {
		if o.keys[k] == nil {
			o.keys[k] = map[int]*holding{}
		}
		h := o.keys[k][o.slice]
		if h == nil {
			h = &holding{}
			o.keys[k][o.slice] = h
		}
		if !h.closed && !slices.Contains(h.by, num) {
			h.by = append(h.by, num)
			h.closed = len(h.by) == 8
		}
	}
}

func (o *windowOracle) named(key uint64) []uint32 {
	var live []uint32
	common := false
	for _, s := range slices.Sorted(maps.Keys(o.keys[key])) {
		h := o.keys[key][s]
		n := len(live)
		for _, num := range h.by {
			if !o.docs[num-1].dead {
				live = append(live, num)
			}
		}
		common = common || h.closed && len(live) > n
	}
	if live = live[:min(len(live), 8)]; common {
		return append(make([]uint32, 8-len(live)), live...)
	}
	return live
}

// equal compares all that a table can be asked.
func (o *windowOracle) equal(t *testing.T, table *Table) {
	t.Helper()
	if found, err := table.Verify(context.Background()); err != nil || len(found) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	if length, clock, edge := table.Window(); length != o.window || clock != o.clock || edge != o.edge {
		t.Fatalf("window %d, clock %d, edge %d, want %d, %d, %d", length, clock, edge, o.window, o.clock, o.edge)
	}
	all := slices.Sorted(maps.Keys(o.keys))
	if w := &table.graves.win; !w.due && w.open().times.n > 0 { // else the next one begins a slice
		equalClosed(t, table, all, func(key uint64) bool { h := o.keys[key][o.slice]; return h != nil && h.closed })
	}
	held := map[uint64]bool{}
	var p postings
	for part := range slices.Chunk(all, 61) {
		must(t, table.ask(part, &p))
		for i, k := range part {
			want := o.named(k)
			if !slices.Equal(p.of(i), want) {
				t.Fatalf("Lookup(%x) = %v, want %v", k, p.of(i), want)
			}
			held[k] = len(want) > 0
		}
	}
	for p, err := range table.All() {
		if err != nil || !held[p.Key] || !slices.Equal(p.Docs, o.named(p.Key)) {
			t.Fatalf("All: %x: %v, %v, want %v", p.Key, p.Docs, err, o.named(p.Key))
		}
	}
	for keys, err := range table.Keys() {
		must(t, err)
		for _, k := range keys {
			delete(held, k)
		}
	}
	for k, there := range held {
		if there {
			t.Fatalf("Keys lacks %x", k)
		}
	}
	o.equalDocs(t, table)
}

func (o *windowOracle) equalDocs(t *testing.T, table *Table) {
	t.Helper()
	ids, dead := map[string][]uint32{}, uint32(0)
	for i := range o.docs {
		d, num := &o.docs[i], uint32(i+1)
		got, err := table.Doc(num)
		if d.dead {
			if dead++; !errors.Is(err, ErrNoDoc) || table.Live(num) {
				t.Fatalf("dead document %d: %v, %v", num, got, err)
			}
			continue
		}
		if err != nil || got.ID != d.id || binary.LittleEndian.Uint32(got.Data) != d.time || !table.Live(num) {
			t.Fatalf("document %d: %v, %v", num, got, err)
		}
		ids[d.id] = append(ids[d.id], num)
	}
	for i := range o.docs {
		id := o.docs[i].id
		if got, err := table.ByID(id); err != nil || !slices.Equal(got, ids[id]) {
			t.Fatalf("ByID(%q) = %v, %v, want %v", id, got, err, ids[id])
		}
	}
	if st := table.Stats(); st.Dead != dead || int(st.Docs) != len(o.docs) {
		t.Fatalf("%d of %d documents dead, want %d of %d", st.Dead, st.Docs, dead, len(o.docs))
	}
}

// windowSequences is how many random sequences TestWindow does.
var windowSequences = flag.Int("windows", 20, "random sequences of TestWindow")

// Any sequence of documents of any time, of taking back, saving and crashing leaves what
// rule 17 says.
func TestWindow(t *testing.T) {
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

// A windowRun is a random sequence on its way through a table and the oracle.
type windowRun struct {
	r           *rand.Rand
	table       *Table
	want, saved *windowOracle
	space       int    // of keys: how often they meet
	pace, late  uint32 // seconds that the times go on and back, at most
	fashion     uint64 // what keys are of now, for they come and go
	disorder    int    // of four documents, how many come late
	rolled      int    // times that slices were dropped
	grouped     int    // documents that were added together with others
	compacted   int    // times
	crash       bool   // look at what a crash would leave after every transaction
	commits     int
	crashes     int
}

func goThrough(t *testing.T, path string, r *rand.Rand, crash bool) *windowRun {
	defer os.Remove(path)
	opt := smallOptions
	opt.MemtableKeys = []int{20, 60, 300}[r.IntN(3)]
	names := slices.Sorted(maps.Keys(smallSizes))
	opt.sizes = smallSizes[names[r.IntN(len(names))]]
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
			if r.IntN(3) == 0 { // another window
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

// drawTime draws the time of the next document.
func (w *windowRun) drawTime() uint32 {
	time := w.want.clock + w.r.Uint32N(w.pace+1)
	if w.r.IntN(4) < w.disorder {
		time -= min(time, w.r.Uint32N(w.late+1))
	}
	return time
}

// together adds documents at once, which no window divides.
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
			continue // not remembered
		}
		id, has := fmt.Sprint("id-", w.r.IntN(200)), fewKeys(w.r, w.space)
		w.want.add(id, time, has)
		if w.want.slice != slice {
			t.Fatalf("a slice begins with a document of %d", time)
		}
		ids, data, keys, times = append(ids, id), append(data, binary.LittleEndian.AppendUint32(nil, time)), append(keys, has), append(times, time)
	}
	_, err := w.table.AddAt(ids, data, keys, times)
	must(t, err)
	w.grouped += len(ids)
}

// judge is what a run does with a document, which it keeps or removes.
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
		return // not remembered
	}
	id := fmt.Sprint("id-", w.r.IntN(200))
	keys := fewKeys(w.r, w.space)
	for i := range keys {
		keys[i] += w.fashion
	}
	w.want.add(id, time, keys)
	_, err := w.table.AddAt([]string{id}, [][]byte{binary.LittleEndian.AppendUint32(nil, time)}, [][]uint64{keys}, []uint32{time})
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
	nothingLeft(t, w.table)
	if w.table.head.win.watermark() > mark {
		w.rolled++
	}
}

// nothingLeft wants nothing in the file of what is below the watermark.
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
				list, err := decodeSpans(string(name), value, table.head.docs)
				if err == nil && list[0].first < mark {
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
	for _, g := range table.graves.old {
		if g.last < mark {
			t.Fatalf("documents %d to %d are listed, below %d", g.first, g.last, mark)
		}
	}
}

// The runs of a slice that has ended become one, and what a table takes stays as it is: of
// memory, of the file, and of runs to look into.
func TestWindowStaysFlat(t *testing.T) {
	t.Parallel()
	opt := smallOptions
	opt.MemtableKeys = 400
	table, err := Open(filepath.Join(t.TempDir(), "table"), opt)
	must(t, err)
	defer func() { must(t, table.Close()) }()
	must(t, table.SetWindow(8000))
	r := rand.New(rand.NewPCG(5, 5))
	var size int64
	for num := uint32(1); num <= 40_000; num++ { // a window holds 8000
		table.Advance(num)
		if table.Full() {
			must(t, table.Checkpoint(nil))
			flat(t, table, num)
		}
		keys := []uint64{r.Uint64(), r.Uint64(), r.Uint64()}
		_, err := table.AddAt([]string{fmt.Sprint(num)}, [][]byte{make([]byte, 100)}, [][]uint64{keys}, []uint32{num})
		must(t, err)
		if num == 16_000 {
			size = table.Stats().FileBytes
		}
	}
	if now := table.Stats().FileBytes; now > size+size*15/100 {
		t.Errorf("the file has grown from %d to %d bytes", size, now)
	}
}

func flat(t *testing.T, table *Table, num uint32) {
	t.Helper()
	w := &table.graves.win
	if len(w.slices) > 11 || w.open().times.n > 1001 {
		t.Fatalf("%d slices at document %d, %d in the last", len(w.slices), num, w.open().times.n)
	}
	for of := range table.spaces {
		in := map[uint32]int{} // slice → runs
		for _, r := range table.spaces[of].runs {
			in[table.head.win.first(r.first)]++
		}
		for i := range w.slices[:max(0, len(w.slices)-2)] {
			if n := in[w.slices[i].first]; n > 1 {
				t.Fatalf("at document %d slice %d of %d has %d runs", num, i, len(w.slices), n)
			}
		}
	}
}

// Numbers are never given out again: the last ones work, and behind them is an error.
func TestLastNumbers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table")
	table, err := Open(path, smallOptions)
	must(t, err)
	must(t, table.SetWindow(80))
	table.Advance(1000)
	const before = math.MaxUint32 - 21 // as if so many had come and gone
	table.docs, table.head.docs, table.head.flushed, table.recs.open.first = before, before, before, before+1
	table.batches.from = before
	table.graves.win.slices[0].first, table.head.win = before+1, table.graves.win.info(nil)
	add := func(n int) error {
		for i := range n {
			table.Advance(1000 + uint32(i))
			if table.Full() {
				must(t, table.Checkpoint(nil))
			}
			_, err := table.AddAt([]string{fmt.Sprint(i)}, [][]byte{nil}, [][]uint64{{uint64(i)}}, []uint32{1000 + uint32(i)})
			if err != nil {
				return err
			}
		}
		return nil
	}
	must(t, add(20))
	for range 2 {
		if err := add(1); err == nil || !strings.Contains(err.Error(), "begin another one") {
			t.Fatalf("one more: %v", err)
		}
		var p postings
		must(t, table.ask([]uint64{19}, &p))
		if nums, err := table.ByID("19"); !slices.Equal(p.of(0), []uint32{math.MaxUint32 - 1}) || !slices.Equal(nums, p.of(0)) || err != nil {
			t.Fatalf("%v, %v, %v", p.of(0), nums, err)
		}
		found, err := table.Verify(context.Background())
		if st := table.Stats(); err != nil || len(found) > 0 || st.Docs-st.Dead != 20 {
			t.Fatalf("%v, %v, %+v", found, err, st)
		}
		n := 0
		for _, err := range table.Docs(1) {
			must(t, err)
			n++
		}
		if n != 20 {
			t.Fatalf("%d documents", n)
		}
		must(t, table.Checkpoint(nil))
		must(t, table.Compact(context.Background()))
		table, err = Open(path, smallOptions)
		must(t, err)
	}
	must(t, table.Close())
}
