package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/step"
)

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlanTree: outputs have the names of inputs below the folder that all arguments have
// in common, and the compression that their bytes tell.
func TestPlanTree(t *testing.T) {
	dir := t.TempDir()
	bz := "BZh9" + bzip2BlockMagic
	writeTree(t, dir, map[string]string{
		"in/a.jsonl": "{}", "in/x/a.jsonl": "{}", "in/x/y/c.jsonl.gz": gzipMagic + "\x08", "in/named.jsonl": zstdMagic + "\x00\x00",
		"in/said.jsonl.gz": "{}", "in/b.jsonl.bz2": bz, "in/w.wacz": zipMagic, "in/l.jsonl.lz4": lz4Magic + "xx", "in/m.jsonl.xz": xzMagic,
		"other/a.jsonl": "{}",
	})
	for _, c := range []struct {
		args string
		want string
	}{
		{"in", "a.jsonl= b.jsonl.zst=zstd l.jsonl.lz4=lz4 m.jsonl.xz=xz named.jsonl=zstd said.jsonl.gz= w.warc.gz=gzip x/a.jsonl= x/y/c.jsonl.gz=gzip"},
		{"in/x", "a.jsonl= y/c.jsonl.gz=gzip"},
		{"in/x/a.jsonl", "a.jsonl="},
		{"in/x/a.jsonl in/x/y", "a.jsonl= y/c.jsonl.gz=gzip"},
		{"in/a.jsonl in/x/y/../a.jsonl other", "in/a.jsonl= in/x/a.jsonl= other/a.jsonl="},
		{"other in/x", "other/a.jsonl= in/x/a.jsonl= in/x/y/c.jsonl.gz=gzip"},
		{"other/a.jsonl in/x/a.jsonl other/a.jsonl", "error: would have the same output"},
		{"-", "error: is no file"},
	} {
		var args []string
		for _, arg := range strings.Fields(c.args) {
			if arg != Stdin {
				arg = dir + string(filepath.Separator) + filepath.FromSlash(arg)
			}
			args = append(args, arg)
		}
		inputs, _, err := Expand(args, []string{".jsonl", ".wacz"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		p, err := PlanTree("out", args, inputs)
		if err == nil {
			for _, f := range p.Files {
				got = append(got, filepath.ToSlash(f.Name)+"="+f.Kind)
			}
		}
		want, fails := strings.CutPrefix(c.want, "error: ")
		if fails && (err == nil || !strings.Contains(err.Error(), want)) || !fails && (err != nil || strings.Join(got, " ") != want) {
			t.Errorf("%s: %q, %v; want %s", c.args, got, err, c.want)
		}
	}
}

// treeModel is what is to be written of each input: some records.
type treeModel struct {
	plan    *TreePlan
	records [][]string
}

// writer writes a model, and may be stopped anywhere.
type treeWriter struct {
	m     *treeModel
	tree  *Tree
	at    [2]int // input and record that is next
	saved TreeMark
	place [2]int // of saved
	know  bool
}

func (w *treeWriter) step() (over bool, err error) {
	if w.at[0] == len(w.m.records) {
		return true, nil
	}
	out, err := w.tree.Turn(w.at[0])
	if err != nil {
		return false, err
	}
	if records := w.m.records[w.at[0]]; w.at[1] < len(records) {
		err = out.WriteRecord([]byte(records[w.at[1]]))
		w.at[1]++
		return false, err
	}
	w.at = [2]int{w.at[0] + 1, 0}
	return false, nil
}

func (w *treeWriter) save() error {
	at, err := w.tree.Sync()
	if err == nil {
		w.saved, w.place, w.know = at, w.at, true
	}
	return err
}

// kill leaves all as a kill would: what is in memory is gone, and the lock.
func (w *treeWriter) kill() {
	if w.tree.current != nil {
		_ = w.tree.current.stop()
	}
	_ = w.tree.stage.release()
}

// again starts anew or goes on.
func (w *treeWriter) again(worthless ...FileID) (err error) {
	if !w.know {
		w.at = [2]int{}
		w.tree, err = CreateTree(w.m.plan, worthless...)
		return err
	}
	w.at = w.place
	w.tree, err = OpenTree(w.m.plan, w.saved)
	return err
}

// TestTreeStopped writes trees, stopped anywhere and gone on with: they are those of
// undisturbed runs, of the files that were drawn.
func TestTreeStopped(t *testing.T) {
	defer func() { step.Hook = nil }()
	errStop := errors.New("stopped")
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		m := &treeModel{plan: &TreePlan{
			Dir: filepath.Join(dir, "out"), Early: true,
			SkipEmpty: rapid.Bool().Draw(rt, "skip"),
		}}
		for i := range rapid.IntRange(1, 12).Draw(rt, "files") {
			kind := rapid.SampledFrom([]string{"", "gzip", "zstd", "xz", "lz4"}).Draw(rt, "kind")
			m.plan.Files = append(m.plan.Files, TreeOutput{fmt.Sprintf("%d/f%d", i%3, i), kind})
			m.records = append(m.records, rapid.SliceOfN(rapid.StringMatching("[a-z]{1,9}\n"), 0, 4).Draw(rt, "records"))
		}
		w := &treeWriter{m: m}
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		must(w.again())
		for n := 0; ; n++ {
			what := rapid.SampledFrom([]string{"go", "go", "go", "go", "save", "kill", "torn"}).Draw(rt, "what")
			if n > 200 {
				what = "go"
			}
			switch what {
			case "save":
				must(w.save())
			case "torn": // while outputs get their places
				left := rapid.IntRange(0, 3).Draw(rt, "placed")
				step.Hook = func(string) error {
					if left--; left < 0 {
						return errStop
					}
					return nil
				}
				if err := w.save(); err != nil && !errors.Is(err, errStop) {
					rt.Fatal(err)
				}
				step.Hook = nil
				fallthrough
			case "kill":
				id := w.tree.ID()
				w.kill()
				must(w.again(id))
			default:
				over, err := w.step()
				must(err)
				if over {
					must(w.tree.End())
					must(w.save())
					if rapid.Bool().Draw(rt, "killed at the end") {
						w.kill()
						must(w.again())
					}
					must(w.tree.Close())
					m.check(rt)
					return
				}
			}
		}
	})
}

// check reads the tree.
func (m *treeModel) check(t *rapid.T) {
	want := map[string]string{}
	for i, f := range m.plan.Files {
		if len(m.records[i]) > 0 || !m.plan.SkipEmpty {
			want[f.Name] = strings.Join(m.records[i], "")
		}
	}
	files := 0
	err := filepath.WalkDir(m.plan.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == treeStage {
				t.Error("the stage is left")
			}
			return err
		}
		files++
		name, _ := filepath.Rel(m.plan.Dir, path)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if i := m.index(name); i >= 0 && compressionOf(data) != m.plan.Files[i].Kind {
			t.Errorf("%s is compressed with %q", name, compressionOf(data))
		}
		dec := decoders{maxWindow: DefaultMaxWindow, maxRatio: -1}
		defer dec.close()
		r, err := dec.decode(name, counter{bytes.NewReader(data), new(int64)})
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if string(text) != want[name] {
			t.Errorf("%s holds %q, and not %q", name, text, want[name])
		}
		return err
	})
	if err != nil || files != len(want) {
		t.Errorf("%d files of %d, %v", files, len(want), err)
	}
}

func (m *treeModel) index(name string) int {
	for i, f := range m.plan.Files {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// TestTreeOfOthers: what another run has left is put aside, one under way is left alone,
// and no file is replaced, whenever it came.
func TestTreeOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	plan := func(names ...string) *TreePlan {
		p := &TreePlan{Dir: dir, Early: true}
		for _, name := range names {
			p.Files = append(p.Files, TreeOutput{Name: name})
		}
		return p
	}
	begun := func(p *TreePlan) *Tree {
		t.Helper()
		tree, err := CreateTree(p)
		if err != nil {
			t.Fatal(err)
		}
		w, err := tree.Turn(0)
		if err == nil {
			err = w.WriteRecord([]byte("one\n"))
		}
		if _, syncErr := tree.Sync(); err != nil || syncErr != nil {
			t.Fatal(err, syncErr)
		}
		return tree
	}
	first := begun(plan("a", "b"))
	if _, err := CreateTree(plan("c")); !errors.Is(err, ErrBusy) {
		t.Errorf("beside a run: %v", err)
	}
	if err := first.Abort(); err != nil {
		t.Fatal(err)
	}
	second := begun(plan("a"))
	if want := filepath.Join(dir, treeStage+".1"); second.Aside() != want {
		t.Errorf("put aside as %q, not %q", second.Aside(), want)
	}
	writeTree(t, dir, map[string]string{"a": "another's"})
	if err := second.Close(); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a file that came meanwhile: %v", err)
	}
	if _, err := CreateTree(plan("x", "a")); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a file that was there: %v", err)
	}
	for name, want := range map[string]string{"a": "another's", treeStage + ".1/a": "one\n", treeStage + "/a": "one\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

// TestShards: a shard ends with the record that fills it, the one that began it counted.
func TestShards(t *testing.T) {
	plan := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), ShardSize: 10, Ending: ".txt"}
	tree, err := CreateTree(plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{"aaaa\n", "bbbb\n", "cccc\n", "ddd\n", "\n", "eeeeeeeeeeeeeee\n", "f\n"} {
		out, err := tree.Turn(0)
		if err == nil && tree.Full(len(record)) {
			out, err = tree.NextShard()
		}
		if err == nil {
			err = out.WriteRecord([]byte(record))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tree.End(), tree.Close()); err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"aaaa\nbbbb\n", "cccc\nddd\n\n", "eeeeeeeeeeeeeee\n", "f\n"} {
		if got, err := os.ReadFile(filepath.Join(plan.Dir, plan.output(n).Name)); string(got) != want {
			t.Errorf("shard %d is %q, want %q, %v", n, got, want, err)
		}
	}
}

// TestTreeGone: a run goes on with what a mark knows of, though it be empty, and not where
// an output of it is gone or the stage is another run's.
func TestTreeGone(t *testing.T) {
	plan := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Early: true, Files: []TreeOutput{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	create := func() (*Tree, TreeMark) {
		t.Helper()
		tree, err := CreateTree(plan)
		if err == nil {
			_, err = tree.Turn(1)
		}
		if err != nil {
			t.Fatal(err)
		}
		at, err := tree.Sync()
		if err != nil {
			t.Fatal(err)
		}
		return tree, at
	}
	tree, at := create()
	if err := tree.Abort(); err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(plan, at)
	if err != nil {
		t.Fatal("empty outputs that are known of are gone:", err)
	}
	if _, err := tree.Sync(); err != nil { // a has its place
		t.Fatal(err)
	}
	if err := tree.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(plan.Dir, "a")); err != nil {
		t.Fatal(err)
	}
	if tree, err := OpenTree(plan, at); !errors.Is(err, errOtherFile) {
		t.Errorf("an output is gone: %v", errors.Join(err, tree.Abort()))
	}
	second, other := create()
	if err := second.Abort(); err != nil {
		t.Fatal(err)
	}
	if tree, err := OpenTree(plan, at); !errors.Is(err, errOtherFile) {
		t.Errorf("another run's stage: %v", errors.Join(err, tree.Abort()))
	}
	if tree, err := OpenTree(plan, other); err != nil {
		t.Error(err)
	} else if err := errors.Join(tree.End(), tree.Close()); err != nil {
		t.Error(err)
	}
}
