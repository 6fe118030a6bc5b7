package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// tiny is full after a few documents.
var tiny = Options{Key: KeyAsIs, Shape: bloomstore.ForItems(50)}

// TestSeeGrows checks that See grows the filter, and takes checkpoints when the table is full.
func TestSeeGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	o := tiny
	o.MemtableKeys = 100
	x := opened(t, dir, o)
	indextest.Must(t, x.Begin(Policy{}))
	if kept := see(t, x, 0, 100); kept != 100 {
		t.Fatalf("%d of 100 new documents were kept", kept)
	}
	if x.Grown() == 0 || x.State().Bytes <= tiny.Shape.Bytes() || x.Rebuilt() != "" {
		t.Errorf("grown %d times, to %+v", x.Grown(), x.State())
	}
	if s := x.TableStats(); s.Checkpoints == 0 || x.Table().Unsaved() == 100 {
		t.Errorf("no checkpoint: %+v", s)
	}
	if c := x.Counts(); c.Fresh == 0 {
		t.Errorf("%+v", c)
	}
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, x.Close())
	knows(t, dir, o, 0, 100, 100)
}

// TestPolicyOfFull covers all policies for a full filter, with and without a table.
func TestPolicyOfFull(t *testing.T) {
	for _, filterOnly := range []bool{false, true} {
		for _, onFull := range []OnFull{OnFullGrow, OnFullStop, OnFullWarn} {
			o := tiny
			o.FilterOnly = filterOnly
			x := opened(t, filepath.Join(t.TempDir(), "index"), o)
			warned := 0
			indextest.Must(t, x.Begin(Policy{OnFull: onFull, Warn: func(f FilterState) {
				if warned++; f.Rate <= 0 {
					t.Errorf("%+v", f)
				}
			}}))
			var err error
			for n := 0; n < 50 && err == nil; n++ {
				_, err = x.See(fmt.Sprint(n), []byte(indextest.Sentences(n)))
			}
			grows := onFull == OnFullGrow && !filterOnly
			switch {
			case onFull == OnFullStop:
				if !errors.Is(err, ErrFull) {
					t.Errorf("without table %v: %v", filterOnly, err)
				}
			case err != nil:
				t.Error(err)
			case (warned == 1) == grows || (x.Grown() > 0) != grows:
				t.Errorf("policy %d, without table %v: warned %d times, grown %d times", onFull, filterOnly, warned, x.Grown())
			}
		}
	}
}

// TestSettledBeforeSaved checks that nothing becomes durable before its answers are safe.
func TestSettledBeforeSaved(t *testing.T) {
	x := opened(t, filepath.Join(t.TempDir(), "index"), smallIndex)
	broken := errors.New("nobody reads the answers")
	var settled []bool
	fails := false
	indextest.Must(t, x.Begin(Policy{CheckpointBytes: 10, Flush: func(ended bool) (map[string][]byte, error) {
		settled = append(settled, ended)
		if fails {
			return nil, broken
		}
		return state("far"), nil
	}}))
	var set feature.Set
	set.Whole, set.Units = 7, 3
	_, err := x.Decide(dedup.Document{ID: "a", Sketch: &set})
	indextest.Must(t, err)
	indextest.Must(t, x.Ack(9))
	if len(settled) != 0 {
		t.Error("a checkpoint before it was due")
	}
	indextest.Must(t, x.Ack(1))
	indextest.Must(t, x.Tick()) // without a new document
	if !slices.Equal(settled, []bool{false}) || x.Table().Unsaved() != 0 {
		t.Errorf("settled %v", settled)
	}
	if v, err := x.Value("run"); string(v) != "far" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	set.Whole++
	_, err = x.Decide(dedup.Document{ID: "b", Sketch: &set})
	indextest.Must(t, err)
	if err := x.Stop(broken); err != broken || len(settled) != 1 {
		t.Errorf("what nobody has was saved: %v", err)
	}
	fails = true
	if err := x.Ack(10); !errors.Is(err, broken) || x.Table().Unsaved() != 1 {
		t.Errorf("saved without its answer: %v", err)
	}
	if err := x.Stop(broken); err != broken {
		t.Errorf("told twice: %v", err)
	}
	if err := x.End(); !errors.Is(err, broken) {
		t.Error(err)
	}
	fails = false
	indextest.Must(t, x.End())
	if err := x.Stop(broken); err != broken || !settled[len(settled)-1] {
		t.Errorf("%v, %v", err, settled)
	}
}

// TestAskingAddsNothing checks that Check adds no document, and that Kept returns known ones.
func TestAskingAddsNothing(t *testing.T) {
	at := time.Unix(1700000000, 0)
	for _, filterOnly := range []bool{false, true} {
		o := smallIndex
		o.FilterOnly = filterOnly
		x := opened(t, filepath.Join(t.TempDir(), "index"), o)
		if x.Counts() != (dedup.Counts{}) {
			t.Error("counts before the first document")
		}
		set := feature.Set{Whole: 9, Units: 4}
		for range 2 {
			if r, err := x.Check("a", &set); err != nil || !r.Kept {
				t.Errorf("%+v, %v", r, err)
			}
		}
		indextest.Must(t, x.Begin(Policy{Now: func() time.Time { return at }}))
		_, err := x.Decide(dedup.Document{ID: "a", Sketch: &set})
		indextest.Must(t, err)
		if r, err := x.Check("b", &set); err != nil || r.Kept || len(x.SeenBefore()) == 0 {
			t.Errorf("%+v, %v", r, err)
		}
		doc, err := x.Kept(1)
		if filterOnly != (err != nil) || !filterOnly && (doc.ID != "a" || doc.Time != at.Unix()) {
			t.Errorf("%+v, %v", doc, err)
		}
		if filterOnly != (x.TableStats() == nil) || filterOnly != (x.Table() == nil) || x.Filter() == nil {
			t.Error("table and filter")
		}
		indextest.Must(t, x.Close())
		for name, err := range map[string]error{"Begin": x.Begin(Policy{}), "See": second(x.See("", nil)), "Check": second(x.Check("", &set)), "Decide": second(x.Decide(dedup.Document{Sketch: &set}))} {
			if !errors.Is(err, errIndexClosed) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		if _, err := x.Kept(1); !errors.Is(err, errIndexClosed) {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestBeginRefuses refuses meaningless rules, and a run whose Flush fails.
func TestBeginRefuses(t *testing.T) {
	x := opened(t, t.TempDir(), smallIndex)
	if err := x.Begin(Policy{Rules: dedup.Rules{Threshold: 2}}); err == nil {
		t.Error("a threshold of 2")
	}
	if err := x.Begin(Policy{Stream: true, Flush: func(bool) (map[string][]byte, error) { return nil, docmap.ErrDamaged }}); err == nil {
		t.Error("begun without its answers")
	}
}

// TestSeeServesItsJournal checks that See alone saves a filter without a table during a stream.
func TestSeeServesItsJournal(t *testing.T) {
	dir := t.TempDir()
	saved := 0
	l := &life{t: t}
	l.onStep(func(name string) {
		if name == "the filter is in place" {
			saved++
		}
	})
	x := opened(t, dir, Options{Key: KeyAsIs, Shape: lifeShape, FilterOnly: true, JournalBytes: 5000})
	indextest.Must(t, x.Begin(Policy{Stream: true, OnFull: OnFullWarn, CheckpointBytes: 1000}))
	n := 0
	for ; saved < 2; n++ {
		if _, err := x.See("", []byte(indextest.Sentences(n))); err != nil {
			t.Fatal(err)
		}
		if n > 100_000 {
			t.Fatal("the filter was never saved")
		}
	}
	indextest.Must(t, x.Checkpoint())
	indextest.Must(t, x.Close()) // as a kill would
	knows(t, dir, Options{Key: KeyAsIs, FilterOnly: true}, 0, n, n)
}

// TestStreamDisk checks that a filter without a table takes half to all of the predicted disk.
func TestStreamDisk(t *testing.T) {
	dir := t.TempDir()
	most, saved := int64(0), 0
	l := &life{t: t}
	l.onStep(func(name string) {
		if name == "the filter is in place" {
			saved++
		}
		size := int64(0)
		entries, err := os.ReadDir(dir)
		indextest.Must(t, err)
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		most = max(most, size)
	})
	x := opened(t, dir, Options{Key: KeyAsIs, Shape: lifeShape, FilterOnly: true})
	indextest.Must(t, x.Begin(Policy{Stream: true, OnFull: OnFullWarn}))
	rng := rand.New(rand.NewPCG(3, 4))
	set := feature.Set{Features: make([]feature.Feature, 50)}
	for saved < 2 {
		for i := range set.Features {
			set.Features[i] = feature.Feature{Key: rng.Uint64(), Order: rng.Uint64(), Width: uint32(100 - i), Units: 10}
		}
		set.Whole, set.Units = rng.Uint64(), 500
		r, err := x.Decide(dedup.Document{Sketch: &set})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Kept { // the filter is overfull
			x.only.Add(x.deduper.Keys())
		}
		indextest.Must(t, x.Ack(1000))
	}
	if want := int64(filterlog.Disk(lifeShape, method.WholeKeys+feature.MaxSegments)); most > want || most < want/2 {
		t.Errorf("%d bytes at most, said were %d", most, want)
	}
}

// TestTemporary checks that a temporary index answers until it is closed, and leaves no filter.
func TestTemporary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x, err := Open(context.Background(), dir, Options{Key: KeyAsIs, Temporary: true})
	indextest.Must(t, err)
	for i := range 3 {
		if r, err := x.See("id", []byte(indextest.Sentences(1))); err != nil || r.Kept != (i == 0) {
			t.Fatal(r, err)
		}
	}
	indextest.Must(t, errors.Join(x.Checkpoint(), x.End(), x.Finish(nil), x.Save(), x.Close()))
	if _, err := os.Stat(filepath.Join(dir, FilterFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("its filter was saved:", err)
	}
}

// TestCheckpointEvery checks the default: an answer is durable with the next one a second later.
func TestCheckpointEvery(t *testing.T) {
	x := opened(t, filepath.Join(t.TempDir(), "index"), smallIndex)
	indextest.Must(t, x.ensureBegun())
	if x.policy.CheckpointEvery != time.Second {
		t.Fatalf("without a policy there is a checkpoint every %v", x.policy.CheckpointEvery)
	}
	now := time.Unix(1_700_000_000, 0)
	x.policy.Now, x.last = func() time.Time { return now }, now
	for n, c := range []struct {
		after   time.Duration
		unsaved uint32 // after the document
	}{{0, 1}, {999 * time.Millisecond, 2}, {time.Millisecond, 1}, {0, 2}, {time.Second, 1}} {
		now = now.Add(c.after)
		see(t, x, n, n+1)
		if got := x.table.Unsaved(); got != c.unsaved {
			t.Errorf("document %d: %d are unsaved, want %d", n, got, c.unsaved)
		}
	}
}

// TestNewIndexHasASecret checks that a new index draws a key by default.
func TestNewIndexHasASecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := opened(t, dir, Options{Shape: smallIndex.Shape})
	key, err := ReadKey(dir)
	if len(key) != keyBytes || err != nil || string(x.Scheme().Key) != string(key) {
		t.Errorf("the key is %x, %v", key, err)
	}
}

// TestCheckpointBeforeBegin saves an index before its first run.
func TestCheckpointBeforeBegin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := opened(t, dir, smallIndex)
	indextest.Must(t, x.Checkpoint())
	indextest.Must(t, x.Close())
	if kept := see(t, opened(t, dir, smallIndex), 0, 3); kept != 3 {
		t.Errorf("%d of 3 are kept", kept)
	}
}
