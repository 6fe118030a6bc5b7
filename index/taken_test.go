package index

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
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

// takings is how many random sequences TestTakenBack does.
var takings = flag.Int("takings", 25, "random sequences of TestTakenBack")

// TestTakenBack: whatever is seen, taken back, replaced, cancelled, saved, lost in a
// crash and compacted, every verdict and every witness is that of the oracle, and so is
// every list of what was removed for the sake of a batch.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	n := *takings
	if testing.Short() {
		n = min(n, 10)
	}
	seen := map[string]int{}
	for seed := range n {
		w := newTakings(t, uint64(seed))
		w.steps()
		for what, n := range w.count {
			seen[what] += n
		}
	}
	for _, what := range []string{"unique", "duplicate", "related", "mosaic", "exact", "common", "replaced", "victims", "lost"} {
		if seen[what] == 0 {
			t.Errorf("no %s in all sequences: %v", what, seen)
		}
	}
}

// believed is what is to be: an oracle, and what stands beside it.
type believed struct {
	oracle *oracle.Oracle
	ids    []string // of each kept document
	batch  []string // of each, "" for none
	dead   map[int]bool
	gone   []victim
}

type victim struct {
	of int
	Victim
}

func (b *believed) clone() *believed {
	return &believed{b.oracle.Clone(), slices.Clone(b.ids), slices.Clone(b.batch), maps.Clone(b.dead), slices.Clone(b.gone)}
}

func (b *believed) byID(id string) (nums []int) {
	for i := range b.ids {
		if b.ids[i] == id && !b.dead[i+1] {
			nums = append(nums, i+1)
		}
	}
	return nums
}

func (b *believed) forget(nums []int) {
	for _, num := range nums {
		if !b.dead[num] {
			b.dead[num] = true
			b.oracle.Forget(num)
		}
	}
}

// sequence is one of them.
type sequence struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	opt   Options
	index *Index
	now   *believed
	saved *believed
	cur   string // batch
	swap  bool   // ReplaceSameID
	texts []string
	count map[string]int
}

func newTakings(t *testing.T, seed uint64) *sequence {
	w := &sequence{t: t, r: rand.New(rand.NewPCG(seed, 3)), dir: filepath.Join(t.TempDir(), "index"), count: map[string]int{}}
	w.opt = Options{Shape: bloomstore.ForItems(uint64(50 + w.r.IntN(3000))), MemtableKeys: []int{40, 200, 1000}[w.r.IntN(3)]}
	w.now = &believed{oracle: oracle.New(dedup.Rules{Threshold: dedup.DefaultThreshold}), dead: map[int]bool{}}
	w.saved = w.now.clone()
	return w
}

func (w *sequence) begin() {
	x, err := Open(w.dir, w.opt)
	indextest.Must(w.t, err)
	w.index, w.swap = x, w.r.IntN(3) == 0
	indextest.Must(w.t, x.Begin(Policy{
		ReplaceSameID: w.swap, Now: func() time.Time { return time.Unix(1, 0) },
		Settle: func(bool) (map[string][]byte, error) { w.saved = w.now.clone(); return nil, nil },
	}))
	w.cur = []string{"", "a", "b"}[w.r.IntN(3)]
	indextest.Must(w.t, x.SetBatch(w.cur))
}

func (w *sequence) steps() {
	for range 4 + w.r.IntN(5) {
		w.begin()
		for range w.r.IntN(25) {
			w.see()
		}
		switch w.r.IntN(4) {
		case 0: // a crash
			indextest.Must(w.t, w.index.Close(false))
			if len(w.now.ids) > len(w.saved.ids) {
				w.count["lost"]++
			}
			w.now = w.saved.clone()
		default:
			w.saved = w.now.clone()
			indextest.Must(w.t, w.index.Finish(nil))
			indextest.Must(w.t, w.index.Close(true))
		}
		w.edit()
		w.saved = w.now.clone()
	}
	found, err := Check(context.Background(), w.dir, CheckOptions{})
	indextest.Must(w.t, err)
	if !found.Sound {
		w.t.Fatalf("%+v", found)
	}
}

func (w *sequence) text() string {
	var parts []string
	if n := len(w.texts); n > 0 && w.r.IntN(3) > 0 {
		parts = strings.Split(w.texts[w.r.IntN(n)], "\n")
		switch w.r.IntN(4) {
		case 0: // as it was
		case 1:
			parts = parts[:1+w.r.IntN(len(parts))]
		case 2:
			parts = append(parts, strings.Split(w.texts[w.r.IntN(n)], "\n")...)
		case 3:
			parts[w.r.IntN(len(parts))] = w.sentence()
		}
	} else {
		for range 1 + w.r.IntN(14) {
			parts = append(parts, w.sentence())
		}
	}
	if w.r.IntN(2) == 0 { // a menu
		parts = append(parts, "The menu of this site has several entries, which are everywhere the same.", "All rights are reserved by those who wrote the pages that you are reading.")
	}
	text := strings.Join(parts, "\n")
	w.texts = append(w.texts, text)
	return text
}

func (w *sequence) sentence() string {
	words := make([]string, 6+w.r.IntN(8))
	for i := range words {
		words[i] = fmt.Sprintf("word%c%c", 'a'+w.r.IntN(26), 'a'+w.r.IntN(26))
	}
	return strings.Join(words, " ") + "."
}

// see has one document judged by both.
func (w *sequence) see() {
	extractor, err := feature.NewExtractor(w.index.Scheme())
	indextest.Must(w.t, err)
	var set feature.Set
	extractor.Extract(&set, []byte(w.text()))
	id := fmt.Sprint("page-", w.r.IntN(20))
	got, err := w.index.Decide(dedup.Document{ID: id, Sketch: &set})
	indextest.Must(w.t, err)
	want := w.believe(id, &set)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.t.Fatalf("document %d (-want +got):\n%s", len(w.texts), diff)
	}
	w.index.NoteRemoved(id, &got)
	w.note(id, &want)
	indextest.Must(w.t, w.index.Answered(100))
}

func (w *sequence) believe(id string, set *feature.Set) (r dedup.Result) {
	b := w.now
	earlier := b.byID(id)
	if w.swap && len(earlier) > 0 {
		if r = b.oracle.Check(id, set); r.Exact {
			return r
		}
		swapped := b.clone()
		swapped.forget(earlier)
		if r = swapped.oracle.Decide(id, set); r.Kept {
			*b = *swapped
			w.count["replaced"]++
		}
	} else {
		r = b.oracle.Decide(id, set)
	}
	if r.Kept {
		b.ids, b.batch = append(b.ids, id), append(b.batch, w.cur)
	}
	w.count[r.Verdict.String()]++
	if r.Exact {
		w.count["exact"]++
	}
	return r
}

// note is what is to be remembered of a removed document.
func (w *sequence) note(id string, r *dedup.Result) {
	if r.Kept {
		return
	}
	of := int(r.Of.Num)
	if batch := w.now.batch[of-1]; batch != "" && batch != w.cur {
		w.now.gone = append(w.now.gone, victim{of, Victim{ID: id, Batch: w.cur, Of: w.now.ids[of-1]}})
	}
}

// edit takes something back, and compares what is told of it.
func (w *sequence) edit() {
	e, err := Edit(w.dir)
	indextest.Must(w.t, err)
	defer func() { indextest.Must(w.t, e.Close()) }()
	for range w.r.IntN(4) {
		switch w.r.IntN(5) {
		case 0:
			w.cancel(e)
		case 1:
			_, err := e.Compact(context.Background())
			indextest.Must(w.t, err)
			w.now.oracle.Compact()
			w.count["compacted"]++
		default:
			w.forget(e)
		}
	}
	for _, key := range e.x.table.Runs() {
		if key.First == 0 {
			w.count["common"]++
		}
	}
}

func (w *sequence) forget(e *Editor) {
	for range 1 + w.r.IntN(8) {
		id := fmt.Sprint("page-", w.r.IntN(20))
		nums, err := e.ByID(id)
		indextest.Must(w.t, err)
		want := w.now.byID(id)
		if fmt.Sprint(nums) != fmt.Sprint(want) {
			w.t.Fatalf("%s: %v, want %v", id, nums, want)
		}
		n, err := e.Forget(nums)
		if err != nil || n != len(want) {
			w.t.Fatalf("Forget = %d, %v, want %d", n, err, len(want))
		}
		w.now.forget(want)
	}
	indextest.Must(w.t, e.Save())
}

func (w *sequence) cancel(e *Editor) {
	const name = "a"
	var got, want []Victim
	indextest.Must(w.t, e.Victims(name, func(v Victim) error { got = append(got, v); return nil }))
	for _, v := range w.now.gone {
		if !w.now.dead[v.of] && w.now.batch[v.of-1] == name {
			want = append(want, v.Victim)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Fatalf("removed for the sake of the batch: %v, want %v", got, want)
	}
	w.count["victims"] += len(want)
	live, any := 0, false
	for i, batch := range w.now.batch {
		if batch == name {
			if any = true; !w.now.dead[i+1] {
				live++
				w.now.forget([]int{i + 1})
			}
			w.now.batch[i] = ""
		}
	}
	n, err := e.Cancel(name)
	if n != live || any == errors.Is(err, ErrNoBatch) {
		w.t.Fatalf("Cancel = %d, %v, want %d", n, err, live)
	}
}
