package crash

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKills kills some runs over files, and expects no difference.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it often")
	}
	cfg := Config{Dir: t.TempDir(), N: 1, Seed: 11, Jobs: 2}
	var err error
	if cfg.Program, err = Build(context.Background(), "github.com/firstseen/firstseen", cfg.Dir); err != nil {
		t.Fatal(err)
	}
	for _, cfg.Workload = range []string{"merges", "zstd", "second", "filter-only", "revisit"} {
		var out bytes.Buffer
		if err := Kills(context.Background(), cfg, &out); err != nil {
			t.Errorf("%s: %v\n%s", cfg.Workload, err, &out)
		}
	}
	if _, err := choose(fileWorkloads(), "none"); err == nil {
		t.Error("a workload that is none was chosen")
	}
}

// TestDifferences changes one of two equal runs, and expects each change to be found.
func TestDifferences(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	ctx, root := context.Background(), t.TempDir()
	p, err := Build(ctx, "github.com/firstseen/firstseen", root)
	if err != nil {
		t.Fatal(err)
	}
	w := fileWorkloads()[0]
	b, err := prepare(ctx, p, root, []*workload{w})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.reference(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	for want, harm := range map[string]func(dir string){
		"kept.jsonl has ": func(dir string) { write(t, filepath.Join(dir, "kept.jsonl"), "short") },
		"dups.jsonl: no such file": func(dir string) {
			if err := os.Remove(filepath.Join(dir, "dups.jsonl")); err != nil {
				t.Fatal(err)
			}
		},
		"the summary has ": func(dir string) { write(t, filepath.Join(dir, summaryFile), `{"documents":1}`) },
		"is damaged": func(dir string) {
			path := filepath.Join(dir, indexDir, "table.db")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[20] ^= 1
			write(t, path, string(data))
		},
	} {
		dir := filepath.Join(root, "harmed")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, w.name+"-whole"))); err != nil {
			t.Fatal(err)
		}
		harm(dir)
		if found := strings.Join(b.compare(ctx, r, dir), "\n"); !strings.Contains(found, want) {
			t.Errorf("want %q, found %q", want, found)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if phase := r.phase(filepath.Join(root, w.name+"-whole")); phase != "over" {
		t.Errorf("a run that has ended is in the phase %q", phase)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestRecord checks answers against the promises of a stream.
func TestRecord(t *testing.T) {
	a, copyOfA, b := message{"1", 0}, message{"2", 0}, message{"3", 1}
	late := func() time.Time { return time.Now().Add(saveEvery + 2*saveSlack) }
	for name, c := range map[string]struct {
		byTime, byBytes bool
		do              func(r *record)
		again           int
		want            string // "" for nothing wrong
	}{
		"in order": {do: func(r *record) {
			r.answer(a, true, false, 100)
			r.answer(copyOfA, false, false, 200)
			r.answer(b, true, false, 300)
		}},
		"twice": {want: "text 0 is kept a second time", do: func(r *record) {
			r.answer(a, true, false, 100)
			r.answer(copyOfA, true, false, 200)
			r.answer(b, true, false, 300)
		}},
		"lost": {want: "text 1 was never answered kept", do: func(r *record) {
			r.answer(a, true, false, 100)
			r.answer(b, false, false, 300)
		}},
		"forgotten": {again: 1, do: func(r *record) {
			r.answer(a, true, false, 100)
			r.killed(late(), 1<<20)
			r.begin()
			r.answer(copyOfA, true, false, 100)
			r.answer(b, true, false, 200)
		}},
		"should have been saved by then": {byTime: true, want: "kept a second time", do: func(r *record) {
			r.answer(a, true, false, 100)
			r.answer(b, true, false, 200)
			r.killed(late(), 1<<20)
			r.begin()
			r.answer(copyOfA, true, false, 100)
		}},
		"should have been saved by these bytes": {byBytes: true, want: "kept a second time", do: func(r *record) {
			r.answer(a, true, false, 100)
			r.answer(b, true, false, 200)
			r.killed(time.Now(), 100+saveBytes+5<<10)
			r.begin()
			r.answer(copyOfA, true, false, 100)
		}},
		"the same answer again": {do: func(r *record) {
			r.answer(a, true, false, 100)
			r.answer(a, true, true, 200)
			r.answer(b, true, true, 300)
		}},
	} {
		r := newRecord(c.byTime, c.byBytes)
		r.texts = make([]history, 2)
		r.begin()
		c.do(r)
		r.checkLost()
		found := strings.Join(r.differences, "\n")
		if c.want == "" && found != "" || !strings.Contains(found, c.want) || r.again != c.again {
			t.Errorf("%s: %q, %d again; want %q, %d", name, found, r.again, c.want, c.again)
		}
	}
}

// TestCountLog checks that calls are counted per thread, as by strace.
func TestCountLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, `7 fsync(3</x>) = 0
8 fsync(3</x>) = 0
7 fsync(3</x>) = 0
7 <... openat resumed>) = 3</x>
7 openat(AT_FDCWD, "x" <unfinished ...>
8 close(3) = 0
+++ exited with 0 +++
`)
	got, err := countLog(path)
	if err != nil || len(got) != 2 || got["fsync"] != 2 || got["openat"] != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
