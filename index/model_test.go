package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bloomstore"
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
		"unique", "duplicate", "related", "mosaic", "exact", "counted", "replaced", "late", "expired", "slices",
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
		Flush: func(bool) (map[string][]byte, error) {
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
		m.must(errors.Join(x.Save(), x.Close()))
	}
}

// stop ends a run, or what is left of it, with nothing more saved.
func (m *model) stop() {
	if m.x != nil {
		x := m.x
		m.x = nil
		m.must(x.Close())
	}
}

// pause has time pass without a document.
func (m *model) pause() { m.at += m.r.Int64N(m.policy.window + 1) }

func (m *model) checkpoint() {
	m.begin()
	m.crashingIn(func() { m.must(m.x.Checkpoint()) })
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
			nums, err := e.x.table.ByID(id)
			m.must(err)
			want := m.now.byID(id)
			if !slices.Equal(nums, want) {
				m.rt.Fatalf("%s: %v, want %v", id, nums, want)
			}
			if n, err := e.Forget(id); err != nil || n != len(want) {
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
		var got []Dependent
		m.must(e.Dependents(name, func(v Dependent) error { got = append(got, v); return nil }))
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
	if diff := cmp.Diff(m.batches(m.now.batches()), m.batches(files.Table.Batches())); diff != "" {
		m.rt.Fatalf("batches (-want +got):\n%s", diff)
	}
	var got, want []string
	for line, err := range files.Documents() {
		m.must(err)
		got = append(got, fmt.Sprint(line.Document, line.ID, line.Batch))
	}
	for i, d := range m.now.docs {
		if !d.dead && !d.counts {
			want = append(want, fmt.Sprint(i+1, d.id, d.batch))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.rt.Fatalf("documents (-want +got):\n%s", diff)
	}
}

// batches are what must be told of batches. With a window their documents go with the
// slices, at some time after they have ceased to count.
func (m *model) batches(lines []docmap.Batch) (told []docmap.Batch) {
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
