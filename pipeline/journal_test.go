package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

// life is one opening of an index without a table, fed without a pipe so that what
// happens between two documents can be said exactly.
type life struct {
	t       *testing.T
	index   *index.Index
	c       *committer
	next    int // document
	durable int // documents in groups that are on the disk
}

// lifeShape is a filter of four pieces.
var lifeShape = bloomstore.Shape{Bits: 4 << 23, Hashes: 8}

func lifeText(i int) string {
	return strings.ReplaceAll("Document N says something. It goes on for a second sentence, N. And N has a third.", "N", strings.Repeat("n", i%7)+string(rune('a'+i%26))+strings.Repeat("m", i/7))
}

func openLife(t *testing.T, dir string, bound int64) *life {
	t.Helper()
	x, err := index.Open(dir, index.Options{Shape: lifeShape, FilterOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, index: x}
	x.Bound = bound
	job := Job{Now: time.Now, MaxBad: -1, OnFull: OnFullWarn, Pipe: true}
	job.Save = func(Progress) map[string][]byte { return map[string][]byte{"run": []byte("it")} }
	x.Hook = func(step string) {
		if step == "a group is durable" {
			l.durable = l.next
		}
	}
	if l.c, err = newCommitter(x, &job); err != nil {
		t.Fatal(err)
	}
	if err := l.c.begin(); err != nil {
		t.Fatal(err)
	}
	return l
}

// feed decides n documents.
func (l *life) feed(n int) {
	l.t.Helper()
	parser, err := jsonl.Format{}.NewParser("")
	if err != nil {
		l.t.Fatal(err)
	}
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		l.t.Fatal(err)
	}
	var lines strings.Builder
	for range n {
		lines.WriteString(`{"text":"` + lifeText(l.next) + `"}` + "\n")
		l.next++
	}
	b := &batch{block: corpus.Block{File: "f", First: corpus.Place{Record: 1}, Data: []byte(lines.String())}}
	b.fill(parser, extractor, &feature.Set{})
	if err := l.c.commit(context.Background(), b); err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) save() {
	l.t.Helper()
	if err := l.c.checkpoint(false); err != nil {
		l.t.Fatal(err)
	}
}

// crash ends it with nothing saved.
func (l *life) crash() {
	l.t.Helper()
	if err := l.index.Close(false); err != nil {
		l.t.Fatal(err)
	}
}

// rememberedIn returns how many of the first n documents an index knows. They must be
// a beginning.
func rememberedIn(t *testing.T, dir string, n int) (known int) {
	t.Helper()
	x, err := index.Open(dir, index.Options{FilterOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close(false)
	d, err := dedup.New(dedup.Config{Filter: x.Filter})
	if err != nil {
		t.Fatal(err)
	}
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	var set feature.Set
	for i := range n {
		extractor.Extract(&set, []byte(lifeText(i)))
		r, err := d.Check("", &set)
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

func copyDir(t *testing.T, from string) (to string) {
	t.Helper()
	to = t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestCrashWhileTheFilterIsSaved stops between every two steps of saving a filter
// under a running stream. What is remembered then is what is in a group on the
// disk: all of it, and nothing that was decided later, though the new filter holds
// its bits.
func TestCrashWhileTheFilterIsSaved(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 10_000)
	note, seen := l.index.Hook, map[string]int{}
	l.index.Journal.Hook = func(step string) {
		note(step)
		seen[step]++
		if got := rememberedIn(t, copyDir(t, dir), l.next); got != l.durable {
			t.Errorf("a crash after %q: %d documents remembered, %d are durable, %d decided", step, got, l.durable, l.next)
		}
	}
	for range 2 { // the second filter replaces one that is there
		for l.index.Journal.Saving == nil {
			l.feed(10)
			l.save()
		}
		saving := l.index.Journal.Saving
		for i := 0; saving.Ready() != nil; i++ {
			l.index.Journal.CopyPiece(<-saving.Ready())
			l.feed(3) // decided, and in no group
			if i == 1 {
				l.save()
			}
		}
		if err := l.c.installFilter(<-saving.Done()); err != nil {
			t.Fatal(err)
		}
		if l.durable != l.next {
			t.Fatal("a filter was put in place that holds documents of no group")
		}
	}
	l.crash()
	if got := rememberedIn(t, dir, l.next+5); got != l.next {
		t.Errorf("%d documents remembered, want %d", got, l.next)
	}
	for _, step := range []string{
		"a group is durable", "before the next log", "the next log is there", "a piece is copied",
		"the filter is written", "the filter is in place", "a log is removed",
	} {
		if seen[step] < 2 {
			t.Errorf("%q happened %d times", step, seen[step])
		}
	}
}

// TestCrashAtTheEnd stops between every two steps of an end in order after several
// lives that had none. The journals of all of them count until the filter is there.
func TestCrashAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	next := 0
	for range 3 {
		l := openLife(t, dir, 0)
		l.next = next
		l.feed(5)
		l.save()
		l.feed(5) // in no group: forgotten, and kept again in the next life
		l.crash()
		next += 5
	}
	if got := rememberedIn(t, dir, next+5); got != next {
		t.Fatalf("after three lives %d documents are remembered, want %d", got, next)
	}
	l := openLife(t, dir, 0)
	if left := l.index.Left; left == nil || left.Documents != 5 {
		t.Errorf("left over: %+v", left)
	}
	if value, err := l.index.Value("run"); string(value) != "it" || err != nil {
		t.Errorf("the owner's value: %q, %v", value, err)
	}
	l.next = next
	l.feed(5)
	next += 5
	steps := 0
	l.index.Hook = func(step string) {
		steps++
		if got := rememberedIn(t, copyDir(t, dir), next+5); got != next {
			t.Errorf("a crash after %q: %d documents remembered, want %d", step, got, next)
		}
	}
	if err := l.index.Finish(nil); err != nil {
		t.Fatal(err)
	}
	l.crash()
	if steps != 4 {
		t.Errorf("%d steps, want one for each journal", steps)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) != 0 {
		t.Errorf("after an end in order: %q, %v", logs, err)
	}
	if got := rememberedIn(t, dir, next+5); got != next {
		t.Errorf("after an end in order %d documents are remembered, want %d", got, next)
	}
	x, err := index.Open(dir, index.Options{FilterOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if x.Left != nil {
		t.Errorf("after an end in order something is left: %+v", x.Left)
	}
	l.index = x
	l.crash()
}

// TestJournalIsBounded: when the disk is slower than the stream, the stream waits,
// and the logs are never longer than twice the bound and a group.
func TestJournalIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 10_000)
	saves := 0
	for range 100 {
		l.feed(10) // nobody copies pieces in between
		l.save()
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
		if group := int64(3000); size > 2*10_000+2*group {
			t.Fatalf("%d logs have %d bytes", len(logs), size)
		}
		if s := l.index.Journal.Saving; s != nil {
			select {
			case err := <-s.Done():
				saves++
				if err := l.c.installFilter(err); err != nil {
					t.Fatal(err)
				}
			default:
			}
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

// TestMixedFilesAreRefused: files of different indexes, or with one missing, would
// forget in silence.
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
		"the filter of another index": func(dir string) error { return copyNamed(b, dir, index.FilterFile) },
		"the first log of another":    func(dir string) error { return copyNamed(b, dir, index.LogName(1)) },
		"a later log of another":      func(dir string) error { return copyNamed(b, dir, index.LogName(2)) },
		"no filter":                   func(dir string) error { return os.Remove(filepath.Join(dir, index.FilterFile)) },
		"no first log":                func(dir string) error { return os.Remove(filepath.Join(dir, index.LogName(1))) },
		"no second log":               func(dir string) error { return os.Remove(filepath.Join(dir, index.LogName(2))) },
		"a log under another name": func(dir string) error {
			return os.Rename(filepath.Join(dir, index.LogName(3)), filepath.Join(dir, index.LogName(4)))
		},
	} {
		dir := copyDir(t, a)
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		if x, err := index.Open(dir, index.Options{FilterOnly: true}); err == nil {
			t.Errorf("%s: accepted", name)
			x.Close(false)
		} else if !strings.Contains(err.Error(), "put the index back from a copy") {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := index.OpenReader(dir, nil); err == nil {
			t.Errorf("%s: a reader accepts it", name)
			r.Close()
		}
	}
	if x, err := index.Open(a, index.Options{}); err == nil || !strings.Contains(err.Error(), "run with --filter-only") {
		t.Errorf("opened with a table: %v, %v", x, err)
	}
}

func copyNamed(from, to, name string) error {
	data, err := os.ReadFile(filepath.Join(from, name))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, name), data, 0o666)
}
