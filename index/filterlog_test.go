package index

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// life is one opening of an index without a table. It runs without a pipe, so that tests control
// each moment between two documents.
type life struct {
	t       *testing.T
	index   *Index
	next    int // number of the next document
	durable int // documents in groups on disk
}

// lifeShape is a filter that is copied in four pieces.
var lifeShape = bloomstore.Shape{Bits: 4 << 23, Hashes: 8}

func lifeText(i int) string {
	return strings.ReplaceAll("Document N says something. It goes on for a second sentence, N. And N has a third.", "N", strings.Repeat("n", i%7)+string(rune('a'+i%26))+strings.Repeat("m", i/7))
}

func openLife(t *testing.T, dir string, bound int64) *life {
	t.Helper()
	x, err := Open(context.Background(), dir, Options{Key: KeyAsIs, Shape: lifeShape, FilterOnly: true, JournalBytes: bound})
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, index: x}
	l.onStep(func(string) {})
	err = x.Begin(Policy{OnFull: OnFullWarn, Stream: true, Flush: func(bool) (map[string][]byte, error) { return state("it"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// journalSteps are the points between two steps of a journal.
var journalSteps = []string{
	"a group is durable", "before the next log", "the next log is there",
	"the filter is written", "the filter is in place", "a log is removed", "the last filter is in place",
}

// onStep calls hook at each step of the life's journal, and counts durable documents.
func (l *life) onStep(hook func(name string)) {
	l.t.Helper()
	step.Hook = func(name string) error {
		if !slices.Contains(journalSteps, name) {
			return nil // such as opening the index for inspection
		}
		if name == "a group is durable" {
			l.durable = l.next
		}
		hook(name)
		return nil
	}
	l.t.Cleanup(func() { step.Hook = nil })
}

func (l *life) feed(n int) {
	l.t.Helper()
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		l.t.Fatal(err)
	}
	var set feature.Set
	for range n {
		extractor.Extract(&set, []byte(lifeText(l.next)))
		l.next++
		if _, err := l.index.Decide(dedup.Document{Sketch: &set}); err != nil {
			l.t.Fatal(err)
		}
		if err := l.index.Ack(100); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *life) save() {
	l.t.Helper()
	if err := l.index.Checkpoint(); err != nil {
		l.t.Fatal(err)
	}
}

// crash ends the life without saving.
func (l *life) crash() {
	l.t.Helper()
	if err := l.index.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// written waits for a filter that is being saved, if any. The next group installs it.
func (l *life) written() bool {
	l.t.Helper()
	s := l.index.only.Saving()
	if s != nil {
		indextest.Must(l.t, s.Wait())
	}
	return s != nil
}

// rememberedIn counts the documents among the first n that an index knows, which must come first.
func rememberedIn(t *testing.T, dir string, n int) (known int) {
	t.Helper()
	x, err := Open(context.Background(), dir, Options{Key: KeyAsIs, FilterOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	var set feature.Set
	for i := range n {
		extractor.Extract(&set, []byte(lifeText(i)))
		r, err := x.Check("", &set)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Kept && known < i {
			t.Fatalf("document %d is remembered and %d is not", i, known)
		}
		if !r.Kept {
			known++
		}
	}
	return known
}

// TestCrashWhileTheFilterIsSaved stops between any two steps of saving a filter during a stream. An
// index must remember exactly the groups on disk, though the new filter has later documents.
func TestCrashWhileTheFilterIsSaved(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 10_000)
	seen := map[string]int{}
	l.onStep(func(step string) {
		seen[step]++
		if got := rememberedIn(t, indextest.Copy(t, dir), l.next); got != l.durable {
			t.Errorf("a crash after %q: %d documents remembered, %d are durable, %d decided", step, got, l.durable, l.next)
		}
	})
	for range 2 { // the second filter replaces the first
		for l.index.only.Saving() == nil {
			l.feed(10)
			l.save()
		}
		l.feed(3) // decided, but in no group
		l.written()
		l.feed(3)
		l.save()
		if l.index.only.Saving() != nil {
			t.Fatal("a filter that is written is not in place")
		}
	}
	l.crash()
	if got := rememberedIn(t, dir, l.next+5); got != l.next {
		t.Errorf("%d documents remembered, want %d", got, l.next)
	}
	for _, step := range journalSteps[:6] {
		if seen[step] < 2 {
			t.Errorf("%q happened %d times", step, seen[step])
		}
	}
}

// TestCrashAtTheEnd stops between any two steps of an orderly end after several crashed lives. All
// their journals count until the filter is in place.
func TestCrashAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	next := 0
	for range 3 {
		l := openLife(t, dir, 0)
		l.next = next
		l.feed(5)
		l.save()
		l.feed(5) // in no group: forgotten, and kept again by the next life
		l.crash()
		next += 5
	}
	if got := rememberedIn(t, dir, next+5); got != next {
		t.Fatalf("after three lives %d documents are remembered, want %d", got, next)
	}
	l := openLife(t, dir, 0)
	if left := l.index.Left(); left == nil || left.Documents != 5 {
		t.Errorf("left over: %+v", left)
	}
	if value, err := l.index.Value("run"); string(value) != "it" || err != nil {
		t.Errorf("the owner's value: %q, %v", value, err)
	}
	l.next = next
	l.feed(5)
	next += 5
	steps := 0
	l.onStep(func(step string) {
		steps++
		if got := rememberedIn(t, indextest.Copy(t, dir), next+5); got != next {
			t.Errorf("a crash after %q: %d documents remembered, want %d", step, got, next)
		}
	})
	if err := l.index.Finish(nil); err != nil {
		t.Fatal(err)
	}
	l.crash()
	if steps != 5 {
		t.Errorf("%d steps, want one for the filter and one for each journal", steps)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) != 0 {
		t.Errorf("after an end in order: %q, %v", logs, err)
	}
	if got := rememberedIn(t, dir, next+5); got != next {
		t.Errorf("after an end in order %d documents are remembered, want %d", got, next)
	}
	x, err := Open(context.Background(), dir, Options{Key: KeyAsIs, FilterOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if x.Left() != nil {
		t.Errorf("after an end in order something is left: %+v", x.Left())
	}
	l.index = x
	l.crash()
}

// TestJournalIsBounded checks that a stream waits if the disk is slower. The logs never have more
// than twice the bound and one group.
func TestJournalIsBounded(t *testing.T) {
	defer func(s bloomstore.Shape) { lifeShape = s }(lifeShape)
	lifeShape.Bits = 1 << 29 // copying it takes longer than filling the journal
	dir := t.TempDir()
	l := openLife(t, dir, 3000)
	saves := 0
	for range 40 {
		l.feed(10)
		before := l.index.only.Saving()
		l.save()
		if before != nil && l.index.only.Saving() == nil {
			saves++
		}
		var size int64
		logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range logs {
			info, err := os.Stat(log)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if group := int64(3000); size > 2*3000+2*group {
			t.Fatalf("%d logs have %d bytes", len(logs), size)
		}
	}
	if saves < 3 {
		t.Errorf("the filter was saved %d times", saves)
	}
	l.crash()
	if got := rememberedIn(t, dir, l.next); got != l.next {
		t.Errorf("%d documents remembered, want %d", got, l.next)
	}
}

// TestJournalOfALifeBefore checks that old journals count until a saved filter covers them.
func TestJournalOfALifeBefore(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 0)
	l.feed(300)
	l.save()
	l.crash()
	next := l.next
	l = openLife(t, dir, 10_000)
	l.next = next
	for i, want := range []bool{true, false} {
		l.feed(1)
		l.save()
		if saving := l.written(); saving != want {
			t.Fatalf("after %d filters one is saved: %v", i, saving)
		}
	}
	l.crash()
	if got := rememberedIn(t, dir, l.next); got != l.next {
		t.Errorf("%d documents remembered, want %d", got, l.next)
	}
}

// TestManyLives reads journals in numeric order, even with two digits. Left reports the last life.
func TestManyLives(t *testing.T) {
	dir := t.TempDir()
	for next := range 12 {
		l := openLife(t, dir, 0)
		l.next = 2 * next
		l.feed(1)
		l.save()
		l.feed(1)
		l.save()
		l.crash()
	}
	if got := rememberedIn(t, dir, 30); got != 24 {
		t.Errorf("%d documents are remembered", got)
	}
	l := openLife(t, dir, 0)
	if left := l.index.Left(); left == nil || left.Documents != 2 {
		t.Errorf("left: %+v", left)
	}
	l.crash()
}

// TestMixedFilesAreRefused mixes or removes files of indexes, which would then forget silently.
func TestMixedFilesAreRefused(t *testing.T) {
	make := func() string {
		dir := t.TempDir()
		l := openLife(t, dir, 0)
		l.feed(5)
		if err := l.index.Finish(nil); err != nil {
			t.Fatal(err)
		}
		l.crash()
		for range 3 {
			l := openLife(t, dir, 0)
			l.feed(2)
			l.save()
			l.crash()
		}
		return dir
	}
	a, b := make(), make()
	for name, damage := range map[string]func(dir string) error{
		"the filter of another index": func(dir string) error { return copyNamed(b, dir, FilterFile) },
		"the first log of another":    func(dir string) error { return copyNamed(b, dir, filterlog.LogName(1)) },
		"a later log of another":      func(dir string) error { return copyNamed(b, dir, filterlog.LogName(2)) },
		"no filter":                   func(dir string) error { return os.Remove(filepath.Join(dir, FilterFile)) },
		"no first log":                func(dir string) error { return os.Remove(filepath.Join(dir, filterlog.LogName(1))) },
		"no second log":               func(dir string) error { return os.Remove(filepath.Join(dir, filterlog.LogName(2))) },
		"a log under another name": func(dir string) error {
			return os.Rename(filepath.Join(dir, filterlog.LogName(3)), filepath.Join(dir, filterlog.LogName(4)))
		},
	} {
		dir := indextest.Copy(t, a)
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		if x, err := Open(context.Background(), dir, Options{Key: KeyAsIs, FilterOnly: true}); err == nil {
			t.Errorf("%s: accepted", name)
			x.Close()
		} else if !strings.Contains(err.Error(), "put the index back from a copy") {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := OpenReader(context.Background(), dir, nil); err == nil {
			t.Errorf("%s: a reader accepts it", name)
			r.Close()
		}
	}
	if x, err := Open(context.Background(), a, Options{Key: KeyAsIs}); err == nil || !strings.Contains(err.Error(), "run with --filter-only") {
		t.Errorf("opened with a table: %v, %v", x, err)
	}
}

// TestDamagedStaleJournal damages a journal whose keys are in the filter. It is not needed.
func TestDamagedStaleJournal(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 0)
	l.feed(5)
	indextest.Must(t, l.index.Finish(nil))
	l.crash()
	stale := filepath.Join(dir, filterlog.LogName(0))
	indextest.Must(t, os.WriteFile(stale, []byte("firstseen"), 0o666))
	if found := checkIndex(t, dir, CheckOptions{}).findings(); !slices.Equal(found, []string{"filter.0.log stale"}) {
		t.Error(found)
	}
	if got := rememberedIn(t, dir, 5); got != 5 {
		t.Errorf("%d documents remembered, want 5", got)
	}
	l = openLife(t, dir, 0)
	l.crash()
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestDamagedJournalIsGivenUp follows the remedy in the message about a damaged journal.
func TestDamagedJournalIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	o := Options{Key: KeyAsIs, FilterOnly: true}
	for range 3 {
		l := openLife(t, dir, 0)
		l.feed(2)
		l.save()
		l.crash()
	}
	path := func(n uint64) string { return filepath.Join(dir, filterlog.LogName(n)) }
	flipByte(t, path(1), 50)
	if x, err := Open(context.Background(), dir, o); err == nil || !strings.Contains(err.Error(), path(1)) || !strings.Contains(err.Error(), "remove this file and the later journals") {
		t.Errorf("%v, %v", x, err)
	}
	indextest.Must(t, errors.Join(os.Remove(path(1)), os.Remove(path(2))))
	if got := rememberedIn(t, dir, 2); got != 2 {
		t.Errorf("%d documents remembered, want 2", got)
	}
}

func copyNamed(from, to, name string) error {
	data, err := os.ReadFile(filepath.Join(from, name))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, name), data, 0o666)
}

// TestJournalStepsFail fails every step of a journal once. Documents reported as durable must be,
// and the next life must work.
func TestJournalStepsFail(t *testing.T) {
	for _, name := range journalSteps {
		dir := t.TempDir()
		l := openLife(t, dir, 10_000)
		failed := false
		work := func() error {
			for range 60 {
				l.feed(10)
				if err := l.index.Checkpoint(); err != nil {
					return err
				}
				if l.next%50 == 0 {
					l.written()
				}
			}
			return l.index.Finish(nil)
		}
		l.onStep(func(string) {})
		count := step.Hook
		step.Hook = func(s string) error {
			if err := count(s); err != nil || s != name || failed {
				return err
			}
			failed = true
			return errInjected
		}
		if err := work(); !failed || !errors.Is(err, errInjected) {
			t.Errorf("%s: failed %v, %v", name, failed, err)
		}
		step.Hook = nil
		indextest.Must(t, l.index.Close())
		if got := rememberedIn(t, dir, l.next); got < l.durable {
			t.Errorf("%s failed: %d documents remembered, %d were durable", name, got, l.durable)
		}
		l = openLife(t, dir, 10_000)
		indextest.Must(t, errors.Join(l.index.Finish(nil), l.index.Close()))
	}
}

// TestReproducibleJournals checks that files depend only on the documents if the identity is given.
func TestReproducibleJournals(t *testing.T) {
	var files [2][]byte
	for i := range files {
		dir := t.TempDir()
		x := opened(t, dir, Options{Key: KeyAsIs, Shape: lifeShape, FilterOnly: true, UUID: [16]byte{7}})
		indextest.Must(t, x.Begin(Policy{Stream: true, OnFull: OnFullWarn}))
		see(t, x, 0, 20)
		indextest.Must(t, errors.Join(x.Tick(), x.Finish(nil), x.Close()))
		var err error
		files[i], err = os.ReadFile(filepath.Join(dir, FilterFile))
		indextest.Must(t, err)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two filters of the same documents differ")
	}
}

// TestValuesGoWithTheFilter checks that an owner's values last through later runs until removed,
// even if the filter is saved during a stream that is killed.
func TestValuesGoWithTheFilter(t *testing.T) {
	dir, over := t.TempDir(), bytes.Repeat([]byte("o"), 40<<10)
	finish := func(values map[string][]byte) {
		t.Helper()
		x := opened(t, dir, Options{Key: KeyAsIs, Shape: lifeShape, FilterOnly: true})
		indextest.Must(t, x.Begin(Policy{OnFull: OnFullWarn}))
		indextest.Must(t, errors.Join(x.Finish(values), x.Close()))
	}
	check := func(want []byte) {
		t.Helper()
		x := opened(t, dir, Options{Key: KeyAsIs, FilterOnly: true})
		got, err := x.Value("over")
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
		}
		indextest.Must(t, x.Close())
	}
	finish(map[string][]byte{"over": over, "run": nil})
	check(over)
	l := openLife(t, dir, 10_000)
	saved := false
	for range 100 {
		l.feed(10)
		l.save()
		saved = l.written() || saved
	}
	l.crash()
	if !saved {
		t.Error("the filter was not saved under the stream")
	}
	check(over)
	finish(nil)
	check(over)
	finish(map[string][]byte{"other": []byte("x")})
	check(over)
	finish(map[string][]byte{"other": nil})
	finish(map[string][]byte{"over": nil})
	check(nil)
	if h, err := bloomstore.ReadHeader(filepath.Join(dir, FilterFile)); err != nil || len(h.Stamp) != 25 {
		t.Errorf("a stamp of %d bytes, %v", len(h.Stamp), err)
	}
}
