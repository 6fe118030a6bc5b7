package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/step"
)

// TestModel: whatever is seen, forgotten, replaced, cancelled, outlived, saved, lost in a
// crash and compacted, with a window or without, every field of every verdict is that of
// the oracle, and so is all else that an index is asked. A crash leaves the files as they
// are after any transaction and any step of whatever was being done. By hand:
//
//	go test ./index -run TestModel -rapid.checks 10000 -timeout 3h
func TestModel(t *testing.T) {
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	total, sequences := map[string]int{}, 0
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "model")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := newModel(rt, dir, extractor)
		defer m.stop()
		rt.Repeat(map[string]func(*rapid.T){
			"see":        m.action(m.see),
			"see more":   m.action(m.see),
			"see again":  m.action(m.see),
			"forget":     m.action(m.forget),
			"cancel":     m.action(m.cancel),
			"compact":    m.action(m.compact),
			"pause":      m.action(m.pause),
			"checkpoint": m.action(m.checkpoint),
			"finish":     m.action(m.finish),
			"crash":      m.action(m.crash),
			"compare":    m.action(m.compare),
		})
		m.compare()
		m.checkSound()
		for what, n := range m.count {
			total[what] += n
		}
		sequences++
	})
	t.Log(sequences, "sequences:", total)
	for _, what := range []string{
		"unique", "duplicate", "related", "mosaic", "exact", "replaced", "late", "expired", "slices",
		"forgotten", "cancelled", "victims", "compacted", "together", "crashes", "lost", "crashes amid",
	} {
		if total[what] == 0 && sequences >= 100 {
			t.Errorf("no %s in all sequences: %v", what, total)
		}
	}
}

// model is an index on its way, and what it is to be.
type model struct {
	rt        *rapid.T
	r         *rand.Rand // of the action
	root      string
	dir       string
	opt       Options
	extractor *feature.Extractor

	x     *Index // nil between two runs
	now   *believed
	saved map[uint64]*believed // by the sequence of the checkpoint

	policy  arrival // what all documents of a run have
	tells   bool    // documents tell their times
	at      int64   // the system's time
	instant int64   // when the index last looked at it
	texts   []string
	copies  int
	count   map[string]int
}

func newModel(rt *rapid.T, root string, extractor *feature.Extractor) *model {
	m := &model{rt: rt, root: root, dir: filepath.Join(root, "0"), extractor: extractor, now: newBelieved(), at: 1_700_000_000, count: map[string]int{}}
	m.opt = Options{
		Shape:        bloomstore.ForItems(rapid.SampledFrom([]uint64{50, 500, 3000}).Draw(rt, "filter")),
		MemtableKeys: rapid.SampledFrom([]int{40, 200, 1000}).Draw(rt, "memtable"),
	}
	m.policy.window = rapid.SampledFrom([]int64{0, 0, 0, 5, 60, 7200, 172_800}).Draw(rt, "window")
	m.tells = rapid.Bool().Draw(rt, "tells times")
	m.saved = map[uint64]*believed{0: m.now.clone()}
	return m
}

// action draws what an action draws from, so that a sequence can be made shorter and the
// other actions stay as they are.
func (m *model) action(do func()) func(*rapid.T) {
	return func(rt *rapid.T) {
		m.rt, m.r = rt, rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		do()
	}
}

func (m *model) must(err error) {
	m.rt.Helper()
	if err != nil {
		m.rt.Fatal(err)
	}
}

func (m *model) chance(n int) bool { return m.r.IntN(n) == 0 }

// begin begins a run, where none is under way.
func (m *model) begin() {
	if m.x != nil {
		return
	}
	x, err := Open(m.dir, m.opt)
	m.must(err)
	m.x = x
	if m.policy.window > 0 && m.chance(8) {
		m.policy.window = max(2, m.policy.window*(50+m.r.Int64N(100))/100)
	}
	m.policy.replace = m.chance(3)
	m.policy.batch = []string{"", "a", "b"}[m.r.IntN(3)]
	m.must(x.Begin(Policy{
		ReplaceSameID: m.policy.replace, Window: uint32(m.policy.window), TellsTimes: m.tells,
		Now: func() time.Time { m.instant = m.at; return time.Unix(m.at, 0) },
		Settle: func(bool) (map[string][]byte, error) {
			m.saves(x.table.Generation().Sequence + 1)
			return nil, nil
		},
	}))
	m.must(x.SetBatch(m.policy.batch))
}

// saves says that what is now is what the checkpoint of this sequence holds.
func (m *model) saves(sequence uint64) { m.saved[sequence] = m.now.clone() }

func (m *model) finish() {
	if m.x == nil {
		return
	}
	m.saves(m.x.table.Generation().Sequence + 1)
	m.crashingIn(func() { m.must(m.x.Finish(nil)) })
	if m.x != nil {
		x := m.x
		m.x = nil
		m.must(x.Close(true))
	}
}

// stop ends a run, or what is left of it, with nothing more saved.
func (m *model) stop() {
	if m.x != nil {
		x := m.x
		m.x = nil
		m.must(x.Close(false))
	}
}

func (m *model) crash() {
	if m.x == nil {
		return
	}
	m.stop()
	m.recover()
	m.count["crashes"]++
}

// crashingIn does something, and perhaps goes on with the files as they were after one of
// its transactions or steps.
func (m *model) crashingIn(do func()) {
	if !m.chance(4) {
		do()
		return
	}
	left, to := []int{1, 1, 2, 3, 5, 9}[m.r.IntN(6)], ""
	var saved map[uint64]*believed
	event := func() {
		if left--; left == 0 {
			saved = maps.Clone(m.saved)
			m.copies++
			to = filepath.Join(m.root, fmt.Sprint(m.copies))
			m.must(os.CopyFS(to, os.DirFS(m.dir)))
		}
	}
	before := step.Hook
	step.Committed = func(string) { event() }
	step.Hook = func(name string) error {
		if before != nil {
			m.must(before(name))
		}
		event()
		return nil
	}
	do()
	step.Committed, step.Hook = nil, before
	if to == "" {
		return
	}
	m.stop()
	m.must(os.RemoveAll(m.dir))
	m.dir, m.saved = to, saved
	m.recover()
	m.count["crashes amid"]++
}

// recover finds out which checkpoint a crash has left.
func (m *model) recover() {
	docs := len(m.now.docs)
	table, err := docmap.Open(filepath.Join(m.dir, TableFile), docmap.Options{ReadOnly: true})
	if errors.Is(err, os.ErrNotExist) {
		m.now = newBelieved()
		m.saved = map[uint64]*believed{0: m.now.clone()}
		return
	}
	m.must(err)
	sequence := table.Generation().Sequence
	m.must(table.Close())
	last := uint64(0)
	for s := range m.saved {
		if s <= sequence {
			last = max(last, s)
		}
	}
	m.now = m.saved[last]
	m.saved = map[uint64]*believed{sequence: m.now.clone()}
	if len(m.now.docs) < docs {
		m.count["lost"]++
	}
}

// pause has time pass without a document.
func (m *model) pause() { m.at += m.r.Int64N(m.policy.window + 1) }

func (m *model) checkpoint() {
	m.begin()
	m.crashingIn(func() { m.must(m.x.Checkpoint()) })
}

func (m *model) see() {
	m.begin()
	docs := 1 + m.r.IntN(16)
	m.crashingIn(func() {
		for range docs {
			if m.one(m.arrives(m.now.clock)); !m.policy.replace && m.chance(3) {
				m.together()
			}
		}
	})
}

// arrives draws the next document, which comes when the clock is there, and what it tells.
func (m *model) arrives(clock int64) (a arrival, added []byte) {
	a = m.policy
	a.id, a.set = fmt.Sprint("page-", m.r.IntN(20)), new(feature.Set)
	m.extractor.Extract(a.set, []byte(m.text()))
	if a.window == 0 {
		return a, nil
	}
	m.at += m.r.Int64N(a.window/10 + 2)
	switch a.time = m.at; {
	case !m.tells:
	case m.chance(8):
		a.time = clock // it tells none
	default:
		if m.chance(3) {
			a.time -= m.r.Int64N(2*a.window + 1)
		}
		added = AppendTime(nil, a.time)
	}
	return a, added
}

// one has a document judged by both.
func (m *model) one(a arrival, added []byte) {
	if a.window > 0 && !m.tells {
		a.time = max(m.at, m.now.clock)
	}
	m.advance(&a) // before the checkpoint that may be due for it
	got, err := m.x.Decide(dedup.Document{ID: a.id, Sketch: a.set, Added: added})
	m.must(err)
	if late := m.now.late(&a); late != m.x.Late() {
		m.rt.Fatalf("document of time %d: late %v, want %v", a.time, !late, late)
	}
	m.compareVerdict(&a, got)
	m.must(m.x.Answered(100))
}

// together has documents judged in one batch, as many as it can have.
func (m *model) together() {
	left := m.x.Spare()
	var b dedup.Batch
	var docs []arrival
	clock := m.now.clock
	for range 1 + m.r.IntN(20) {
		a, added := m.arrives(clock)
		left.Keys, left.Documents, left.IDs = left.Keys-len(a.set.Features)-1, left.Documents-1, left.IDs-IDBytes-10
		if min(left.Keys, left.Documents, left.IDs, int(left.Bytes)-2000) < 0 || !m.x.Steady(added) {
			break
		}
		if a.window > 0 && !m.tells {
			a.time = max(m.instant, clock)
		}
		clock = max(clock, a.time)
		docs = append(docs, a)
		b.Add(dedup.Document{ID: a.id, Sketch: a.set, Added: added})
	}
	new(dedup.Linker).Link(&b)
	results := make([]dedup.Result, len(docs))
	crew := dedup.Crew{Size: 2, Run: func(tasks int, f func(worker, task int)) {
		for task := range tasks {
			f(task%2, task)
		}
	}}
	m.must(m.x.DecideAll(&b, crew, func(_, i int, told dedup.Told) {
		results[i] = *told.Result
		results[i].Also, results[i].SharedSegments = slices.Clone(told.Result.Also), slices.Clone(told.Result.SharedSegments)
	}))
	for i := range docs {
		m.advance(&docs[i])
		m.compareVerdict(&docs[i], results[i])
	}
	m.count["together"] += len(docs)
	m.must(m.x.Answered(100))
}

func (m *model) advance(a *arrival) {
	before := m.live()
	m.now.advance(a)
	m.count["expired"] += before - m.live()
}

// compareVerdict judges a document by the rules, and holds the verdict against that.
func (m *model) compareVerdict(a *arrival, got dedup.Result) {
	slices := m.now.begun
	want, replaced := m.now.judge(a)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		m.rt.Fatalf("document %s of time %d, kept before %d (-want +got):\n%s", a.id, a.time, len(m.now.docs), diff)
	}
	m.x.NoteRemoved(a.id, &got)
	m.now.note(a, &want)
	m.count[want.Verdict.String()]++
	for what, is := range map[string]bool{"exact": want.Exact, "replaced": replaced, "late": m.now.late(a), "slices": m.now.begun != slices} {
		if is {
			m.count[what]++
		}
	}
}

func (m *model) live() (n int) {
	for i := range m.now.docs {
		if !m.now.docs[i].dead {
			n++
		}
	}
	return n
}

// edit does something between two runs.
func (m *model) edit(do func(e *Editor)) {
	m.finish()
	e, err := Edit(m.dir)
	if errors.Is(err, os.ErrNotExist) || len(m.now.docs) == 0 {
		if err == nil {
			m.must(e.Close())
		}
		return
	}
	m.must(err)
	open := true
	m.crashingIn(func() {
		do(e)
		m.must(e.Close())
		open = false
	})
	if open {
		m.must(e.Close())
	}
}

// sequence is that of the table's last checkpoint.
func sequence(e *Editor) uint64 { return e.x.table.Generation().Sequence }

func (m *model) forget() {
	m.edit(func(e *Editor) {
		for range 1 + m.r.IntN(8) {
			id := fmt.Sprint("page-", m.r.IntN(20))
			nums, err := e.ByID(id)
			m.must(err)
			want := m.now.byID(id)
			if !slices.Equal(nums, want) {
				m.rt.Fatalf("%s: %v, want %v", id, nums, want)
			}
			if n, err := e.Forget(nums); err != nil || n != len(want) {
				m.rt.Fatalf("Forget = %d, %v, want %d", n, err, len(want))
			}
			for _, num := range want {
				m.now.forget(int(num))
			}
			m.count["forgotten"] += len(want)
		}
		m.saves(sequence(e))
		m.must(e.Save())
	})
}

func (m *model) cancel() {
	m.edit(func(e *Editor) {
		name := []string{"a", "b"}[m.r.IntN(2)]
		var got []Victim
		m.must(e.Victims(name, func(v Victim) error { got = append(got, v); return nil }))
		if want := m.now.victims(name); !slices.Equal(got, want) {
			m.rt.Fatalf("removed for the sake of the batch: %v, want %v", got, want)
		}
		m.count["victims"] += len(got)
		live, any := m.now.cancel(name)
		m.saves(sequence(e))
		n, err := e.Cancel(name)
		if m.policy.window > 0 && live == 0 {
			any = !errors.Is(err, ErrNoBatch) // as long as its slices are there
		}
		if n != live || any == errors.Is(err, ErrNoBatch) || any && err != nil {
			m.rt.Fatalf("Cancel = %d, %v, want %d", n, err, live)
		}
		m.count["cancelled"]++
	})
}

func (m *model) compact() {
	var at uint64
	step.Hook = func(name string) error {
		if name == "renamed "+TableFile+".new" {
			if m.policy.window == 0 {
				m.now.oracle.Compact()
			}
			m.saves(at)
		}
		return nil
	}
	defer func() { step.Hook = nil }()
	m.edit(func(e *Editor) {
		at = sequence(e)
		_, err := e.Compact(context.Background())
		m.must(err)
		m.count["compacted"]++
	})
}

// compare holds what an index tells beside verdicts against what it is to tell.
func (m *model) compare() {
	m.finish()
	files, err := OpenFiles(m.dir)
	if err != nil && len(m.now.docs) == 0 {
		return // there is none yet
	}
	m.must(err)
	defer func() { m.must(files.Close()) }()
	if diff := cmp.Diff(m.batches(m.now.batches()), m.batches(files.Batches())); diff != "" {
		m.rt.Fatalf("batches (-want +got):\n%s", diff)
	}
	var got, want []string
	for line, err := range files.Documents() {
		m.must(err)
		got = append(got, fmt.Sprint(line.Document, line.ID, line.Batch))
	}
	for i, d := range m.now.docs {
		if !d.dead {
			want = append(want, fmt.Sprint(i+1, d.id, d.batch))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.rt.Fatalf("documents (-want +got):\n%s", diff)
	}
}

// batches are what must be told of batches. With a window their documents go with the
// slices, at some time after they have ceased to count.
func (m *model) batches(lines []BatchLine) (told []BatchLine) {
	for _, line := range lines {
		if m.policy.window > 0 {
			line.Documents = line.Live
		}
		if line.Documents > 0 {
			told = append(told, line)
		}
	}
	return told
}

func (m *model) checkSound() {
	found, err := Check(context.Background(), m.dir, CheckOptions{})
	if errors.Is(err, os.ErrNotExist) || len(m.now.docs) == 0 {
		return
	}
	m.must(err)
	if !found.Sound {
		m.rt.Fatalf("%+v", found)
	}
}

// text draws one: new, or out of earlier ones, and of some with a menu.
func (m *model) text() string {
	var parts []string
	if n := len(m.texts); n > 0 && !m.chance(3) {
		parts = strings.Split(m.texts[m.r.IntN(n)], "\n")
		switch m.r.IntN(4) {
		case 0: // as it was
		case 1:
			parts = parts[:1+m.r.IntN(len(parts))]
		case 2:
			parts = append(parts, strings.Split(m.texts[m.r.IntN(n)], "\n")...)
		case 3:
			parts[m.r.IntN(len(parts))] = m.sentence()
		}
	} else {
		for range 1 + m.r.IntN(14) {
			parts = append(parts, m.sentence())
		}
	}
	if m.chance(2) {
		parts = append(parts, "The menu of this site has several entries, which are everywhere the same.", "All rights are reserved by those who wrote the pages that you are reading.")
	}
	text := strings.Join(parts, "\n")
	m.texts = append(m.texts, text)
	return text
}

func (m *model) sentence() string {
	words := make([]string, 6+m.r.IntN(8))
	for i := range words {
		words[i] = fmt.Sprintf("word%c%c", 'a'+m.r.IntN(26), 'a'+m.r.IntN(26))
	}
	return strings.Join(words, " ") + "."
}
