package index

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/dedup/oracle"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/indextest"
)

// TestWindow: whatever the times of documents are, and wherever a run ends, in order or by
// a crash, every verdict and every witness is that of the oracle under rule 17.
func TestWindow(t *testing.T) {
	t.Parallel()
	n := *takings * 3 / 5 // they are longer
	if testing.Short() {
		n = min(n, 8)
	}
	seen := map[string]int{}
	for seed := range n {
		w := newWindowed(t, uint64(seed))
		w.runs()
		for what, n := range w.count {
			seen[what] += n
		}
	}
	for _, what := range []string{"unique", "duplicate", "related", "exact", "late", "late and kept", "expired", "slices", "lost", "forgotten", "replaced", "together", "compacted"} {
		if seen[what] == 0 {
			t.Errorf("no %s in all sequences: %v", what, seen)
		}
	}
	t.Log(seen)
}

// inWindow is what is to be: an oracle, and rule 17 beside it.
type inWindow struct {
	oracle      *oracle.Oracle
	ids         []string
	times       []int64
	dead        map[int]bool
	clock, edge int64
	begun       int64 // the clock at the first document of the slice
	empty       bool  // the slice
}

func (b *inWindow) clone() *inWindow {
	c := *b
	c.oracle, c.ids, c.times, c.dead = b.oracle.Clone(), slices.Clone(b.ids), slices.Clone(b.times), maps.Clone(b.dead)
	return &c
}

func (b *inWindow) byID(id string) (nums []uint32) {
	for i := range b.ids {
		if b.ids[i] == id && !b.dead[i+1] {
			nums = append(nums, uint32(i+1))
		}
	}
	return nums
}

func (b *inWindow) forget(num int) {
	b.dead[num] = true
	b.oracle.Forget(num)
}

type windowed struct {
	sequence
	window     int64
	tells      bool
	now, saved *inWindow
	at         int64 // the system's time
	instant    int64 // when the index last looked at it
	pace, late int64
}

func newWindowed(t *testing.T, seed uint64) *windowed {
	w := &windowed{sequence: sequence{t: t, r: rand.New(rand.NewPCG(seed, 5)), dir: filepath.Join(t.TempDir(), "index"), count: map[string]int{}}}
	w.opt = Options{Shape: bloomstore.ForItems(uint64(50 + w.r.IntN(3000))), MemtableKeys: []int{40, 200, 1000}[w.r.IntN(3)]}
	w.window = []int64{5, 60, 7200, 172800}[seed%4]
	w.tells = seed%3 > 0
	w.pace, w.late = 1+w.window/[]int64{100, 30, 10}[w.r.IntN(3)], 1+w.window*2/[]int64{1, 3, 100}[seed/2%3]
	w.now = &inWindow{oracle: oracle.New(dedup.Rules{Threshold: dedup.DefaultThreshold}), dead: map[int]bool{}, empty: true}
	w.saved, w.at = w.now.clone(), 1_700_000_000
	return w
}

func (w *windowed) runs() {
	for range 3 + w.r.IntN(4) {
		x, err := Open(w.dir, w.opt)
		indextest.Must(w.t, err)
		w.index, w.swap = x, w.r.IntN(3) == 0
		indextest.Must(w.t, x.Begin(Policy{
			Window: uint32(w.window), TellsTimes: w.tells, ReplaceSameID: w.swap,
			Now:    func() time.Time { w.instant = w.at; return time.Unix(w.at, 0) },
			Settle: func(bool) (map[string][]byte, error) { w.saved = w.now.clone(); return nil, nil },
		}))
		for range w.r.IntN(60) {
			if w.judge(); !w.swap && w.r.IntN(3) == 0 {
				w.together()
			}
		}
		if w.r.IntN(4) == 0 { // a crash
			indextest.Must(w.t, x.Close(false))
			if len(w.now.ids) > len(w.saved.ids) {
				w.count["lost"]++
			}
			w.now = w.saved.clone()
		} else {
			indextest.Must(w.t, x.Finish(nil))
			indextest.Must(w.t, x.Close(true))
		}
		w.forgetSome()
		w.saved = w.now.clone()
	}
	found, err := Check(context.Background(), w.dir, CheckOptions{})
	indextest.Must(w.t, err)
	if !found.Sound {
		w.t.Fatalf("%+v", found)
	}
}

// draw draws a document, and the time that it tells or that is its own.
func (w *windowed) draw() (doc dedup.Document, told int64) {
	w.at += w.r.Int64N(w.pace + 1)
	if w.r.IntN(40) == 0 {
		w.at += w.r.Int64N(2 * w.window)
	}
	if told = w.at; w.r.IntN(3) == 0 {
		told -= w.r.Int64N(w.late + 1)
	}
	switch {
	case !w.tells:
		told = w.at
	case w.r.IntN(8) == 0:
		told = w.now.clock // it tells none
	default:
		doc.Added = AppendTime(nil, told)
	}
	extractor, err := feature.NewExtractor(w.index.Scheme())
	indextest.Must(w.t, err)
	doc.ID, doc.Sketch = fmt.Sprint("page-", w.r.IntN(20)), &feature.Set{}
	extractor.Extract(doc.Sketch, []byte(w.text()))
	return doc, told
}

// judge has one document judged by both.
func (w *windowed) judge() {
	doc, told := w.draw()
	// Settle may be called before the document is judged, with what is so then.
	late := w.advance(told)
	got, err := w.index.Decide(doc)
	indextest.Must(w.t, err)
	w.same(w.believe(doc, told, late), got)
	if w.index.Late() != late {
		w.t.Fatalf("document %d: late %v, want %v", len(w.texts), !late, late)
	}
	indextest.Must(w.t, w.index.Answered(100))
}

// together has documents judged in one batch, as many as that can have.
func (w *windowed) together() {
	var batch dedup.Batch
	var want []dedup.Result
	left := w.index.Spare()
	for range 20 {
		doc, told := w.draw()
		left.Keys, left.Documents = left.Keys-len(doc.Sketch.Features)-1, left.Documents-1
		if min(left.Keys, left.Documents, int(left.Bytes)-2000) < 0 || !w.index.Steady(doc.Added) {
			break
		}
		if !w.tells {
			told = max(w.now.clock, w.instant)
		}
		want = append(want, w.believe(doc, told, w.advance(told)))
		batch.Add(doc)
	}
	(&dedup.Linker{}).Link(&batch)
	got := make([]dedup.Result, batch.Len())
	crew := dedup.Crew{Size: 2, Run: func(tasks int, f func(worker, task int)) {
		for task := range tasks {
			f(task%2, task)
		}
	}}
	indextest.Must(w.t, w.index.DecideAll(&batch, crew, func(_, i int, t dedup.Told) {
		got[i] = *t.Result
		got[i].Also, got[i].SharedSegments = slices.Clone(got[i].Also), slices.Clone(got[i].SharedSegments)
	}))
	for i := range want {
		w.same(want[i], got[i])
		w.count["together"]++
	}
	indextest.Must(w.t, w.index.Answered(100))
}

func (w *windowed) same(want, got dedup.Result) {
	w.t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.t.Fatalf("document %d (-want +got):\n%s", len(w.texts), diff)
	}
}

// believe is what is to be answered to a document, and remembered of it.
func (w *windowed) believe(doc dedup.Document, told int64, late bool) dedup.Result {
	r := w.now.oracle.Check(doc.ID, doc.Sketch)
	if earlier := w.now.byID(doc.ID); w.swap && !late && !r.Exact && len(earlier) > 0 {
		swapped := w.now.clone()
		for _, num := range earlier {
			swapped.forget(int(num))
		}
		if r = swapped.oracle.Check(doc.ID, doc.Sketch); r.Kept {
			*w.now = *swapped
			w.count["replaced"]++
		}
	}
	w.remember(doc.ID, doc.Sketch, told, late, &r)
	return r
}

// advance is rule 17 up to the verdict.
func (w *windowed) advance(told int64) (late bool) {
	b := w.now
	b.clock = max(b.clock, told)
	step := max(1, w.window/4096)
	b.edge = max(b.edge, (b.clock-w.window)/step*step)
	for i, at := range b.times {
		if at < b.edge && !b.dead[i+1] {
			b.forget(i + 1)
			w.count["expired"]++
		}
	}
	return told < b.edge
}

func (w *windowed) remember(id string, set *feature.Set, told int64, late bool, r *dedup.Result) {
	b := w.now
	w.count[r.Verdict.String()]++
	if r.Exact {
		w.count["exact"]++
	}
	if late {
		w.count["late"]++
	}
	switch {
	case !r.Kept:
		return
	case late:
		w.count["late and kept"]++
		return
	case !b.empty && b.clock-b.begun >= max(1, w.window/8):
		b.oracle.NextSlice()
		b.empty = true
		w.count["slices"]++
	}
	if b.empty {
		b.begun, b.empty = b.clock, false
	}
	b.oracle.Remember(id, set)
	b.ids, b.times = append(b.ids, id), append(b.times, told)
}

// forgetSome takes documents back, between two runs.
func (w *windowed) forgetSome() {
	e, err := Edit(w.dir)
	indextest.Must(w.t, err)
	for range w.r.IntN(3) {
		id := fmt.Sprint("page-", w.r.IntN(20))
		nums, err := e.ByID(id)
		indextest.Must(w.t, err)
		want := w.now.byID(id)
		if !slices.Equal(nums, want) {
			w.t.Fatalf("%s: %v, want %v", id, nums, want)
		}
		_, err = e.Forget(nums)
		indextest.Must(w.t, err)
		for _, num := range want {
			w.now.forget(int(num))
			w.count["forgotten"]++
		}
	}
	indextest.Must(w.t, e.Save())
	if w.r.IntN(4) == 0 {
		_, err := e.Compact(context.Background())
		indextest.Must(w.t, err)
		w.count["compacted"]++
	}
	indextest.Must(w.t, e.Close())
}

// A filter that is full of what does not count any more is made anew, whatever else would
// be done, and a memory of all that is kept lets go of it.
func TestWindowRenews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scheme feature.Scheme
		full   OnFull
	}{"stop": {full: OnFullStop}, "grow": {full: OnFullGrow}, "memory": {scheme: feature.Scheme{Method: "simhash"}}} {
		x, err := Open(filepath.Join(t.TempDir(), "index"), Options{Scheme: c.scheme, Shape: bloomstore.ForItems(1500), MemtableKeys: 400})
		indextest.Must(t, err)
		indextest.Must(t, x.Begin(Policy{Window: 40, TellsTimes: true, OnFull: c.full}))
		extractor, err := feature.NewExtractor(x.Scheme())
		indextest.Must(t, err)
		size := x.State().Bytes
		for i := range 600 {
			text := indextest.Sentences(i)
			if i%3 == 2 {
				text = indextest.Sentences(i - 1 - i%2*60) // of the one before, or one that is not there any more
			}
			var set feature.Set
			extractor.Extract(&set, []byte(text))
			r, err := x.Decide(dedup.Document{ID: fmt.Sprint(i), Sketch: &set, Added: AppendTime(nil, 1_600_000_000+int64(i))})
			indextest.Must(t, err)
			if want := i%3 != 2 || i%2 == 1; r.Kept != want {
				t.Fatalf("%s: document %d: kept %v, want %v: %+v", name, i, r.Kept, want, r)
			}
			indextest.Must(t, x.Answered(100))
		}
		if x.Grown() > 0 || x.State().Bytes != size || x.TableStats().Window.Expired < 300 {
			t.Errorf("%s: grown %d times, from %d to %d bytes; %v", name, x.Grown(), size, x.State().Bytes, x.TableStats().Window)
		}
		indextest.Must(t, x.Close(false))
	}
}
