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
	"github.com/firstseen/firstseen/internal/base/step"
)

// TestModel compares every field of every verdict, and all other answers of an index, with the
// oracle. It sees, forgets, replaces, cancels, expires, saves and compacts documents, with a window
// or without. A crash leaves the files as after any transaction or step. For a longer run:
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

// model is an index in use, and its expected state.
type model struct {
	rt        *rapid.T
	r         *rand.Rand // of the current action
	root      string
	dir       string
	opt       Options
	extractor *feature.Extractor

	x     *Index // nil between runs
	now   *believed
	saved map[uint64]*believed // by sequence number of the checkpoint

	policy  arrival // common fields of a run's documents
	tells   bool    // documents declare times
	at      int64   // system time
	instant int64   // system time that the index last read
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

// action seeds each action separately, so that shrinking a sequence leaves the others unchanged.
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

// begin begins a run unless one is under way.
func (m *model) begin() {
	if m.x != nil {
		return
	}
	x, err := Open(context.Background(), m.dir, m.opt)
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

// saves records the present state as that of a checkpoint.
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

// stop ends a run without saving.
func (m *model) stop() {
	if m.x != nil {
		x := m.x
		m.x = nil
		m.must(x.Close())
	}
}

// pause lets time pass without a document.
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

// edit edits the index between two runs.
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

// sequence returns the sequence number of the table's last checkpoint.
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
			any = !errors.Is(err, ErrNoBatch) // as long as it has slices
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

// compare compares the answers of an index beside verdicts with the expected ones.
func (m *model) compare() {
	m.finish()
	files, err := OpenFiles(m.dir)
	if err != nil && len(m.now.docs) == 0 {
		return // no table yet
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

// batches returns the comparable counts of batches. With a window, documents vanish with their
// slices, some time after they cease to count.
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
