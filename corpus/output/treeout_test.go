package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/step"
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

// TestPlanTree names outputs after inputs below their common folder, and keeps their compression.
func TestPlanTree(t *testing.T) {
	dir := t.TempDir()
	bz := "BZh9" + compress.Bzip2BlockMagic
	writeTree(t, dir, map[string]string{
		"in/a.jsonl": "{}", "in/x/a.jsonl": "{}", "in/x/y/c.jsonl.gz": compress.GzipMagic + "\x08", "in/named.jsonl": compress.ZstdMagic + "\x00\x00",
		"in/said.jsonl.gz": "{}", "in/b.jsonl.bz2": bz, "in/w.wacz": compress.ZipMagic, "in/l.jsonl.lz4": compress.Lz4Magic + "xx", "in/m.jsonl.xz": compress.XzMagic,
		"other/a.jsonl": "{}",
	})
	for _, c := range []struct {
		args string
		want string
	}{
		{"in", "a.jsonl= b.jsonl.zst=zstd l.jsonl.zst=zstd m.jsonl.zst=zstd named.jsonl=zstd said.jsonl.gz= w.warc.gz=gzip x/a.jsonl= x/y/c.jsonl.gz=gzip"},
		{"in/x", "a.jsonl= y/c.jsonl.gz=gzip"},
		{"in/x/a.jsonl", "a.jsonl="},
		{"in/x/a.jsonl in/x/y", "a.jsonl= y/c.jsonl.gz=gzip"},
		{"in/a.jsonl in/x/y/../a.jsonl other", "in/a.jsonl= in/x/a.jsonl= other/a.jsonl="},
		{"other in/x", "other/a.jsonl= in/x/a.jsonl= in/x/y/c.jsonl.gz=gzip"},
		{"other/a.jsonl in/x/a.jsonl other/a.jsonl", "error: would have the same output"},
		{"-", "error: is not a file"},
	} {
		var args []string
		for _, arg := range strings.Fields(c.args) {
			if arg != input.Stdin {
				arg = dir + string(filepath.Separator) + filepath.FromSlash(arg)
			}
			args = append(args, arg)
		}
		inputs, _, err := input.Expand(args, []string{".jsonl", ".wacz"})
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

// treeModel holds the records to write for each input.
type treeModel struct {
	plan    *TreePlan
	records [][]string
}

// treeWriter writes a model and may be stopped anywhere.
type treeWriter struct {
	m     *treeModel
	tree  *Tree
	at    [2]int // next input and record
	saved TreeMark
	place [2]int // place of saved
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

// kill drops memory and lock, as a kill would.
func (w *treeWriter) kill() {
	if w.tree.current != nil {
		_ = w.tree.current.stop()
	}
	_ = w.tree.release()
}

// again starts over or resumes.
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

// TestTreeStopped stops and resumes writers of trees anywhere, and compares with undisturbed runs.
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
			kind := rapid.SampledFrom([]string{"", "gzip", "zstd"}).Draw(rt, "kind")
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
			case "torn": // stopped while outputs are moved into place
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

// check compares the tree with the model.
func (m *treeModel) check(t *rapid.T) {
	want := map[string]string{}
	for i, f := range m.plan.Files {
		if len(m.records[i]) > 0 || !m.plan.SkipEmpty {
			want[f.Name] = strings.Join(m.records[i], "")
		}
	}
	files := 0
	err := filepath.WalkDir(m.plan.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if list, err := os.ReadDir(path); err != nil || len(list) == 0 && len(want) > 0 {
				t.Errorf("%s is left, with nothing in it: %v", path, err)
			}
			return nil
		}
		if strings.Contains(d.Name(), input.PartialSuffix) {
			t.Errorf("%s is left", path)
		}
		files++
		name, _ := filepath.Rel(m.plan.Dir, path)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if i := m.index(name); i >= 0 && compress.CompressionOf(data) != m.plan.Files[i].Kind {
			t.Errorf("%s is compressed with %q", name, compress.CompressionOf(data))
		}
		dec := compress.Bounds{MaxRatio: -1}.Decoders()
		defer dec.Close()
		r, err := dec.Decode(name, compress.Counter{R: bytes.NewReader(data), N: new(int64)})
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

// TestTreeOfOthers checks that leftovers of another run are put aside and that a running one is
// left alone. No file is replaced, whenever it was created.
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
	firstID := first.ID()
	if err := first.Abort(); err != nil {
		t.Fatal(err)
	}
	second := begun(plan("a"))
	if want := filepath.Join(dir, "a.partial.1"); !slices.Equal(second.Aside(), []string{want}) {
		t.Errorf("put aside as %q, not %q", second.Aside(), want)
	}
	if firstID != (FileID{}) && firstID == second.ID() {
		t.Error("an index holds the first lock for worthless, and the second run has it too")
	}
	writeTree(t, dir, map[string]string{"a": "another's"})
	if err := second.Close(); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a file that came meanwhile: %v", err)
	}
	if _, err := CreateTree(plan("x", "a")); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a file that was there: %v", err)
	}
	for name, want := range map[string]string{"a": "another's", "a.partial.1": "one\n", "a.partial": "one\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

// TestInheritProcessors lets an output reuse the frames of the one before it on fewer processors.
func TestInheritProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	plan := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Files: []TreeOutput{{Name: "a"}, {Name: "b"}}}
	tree, err := CreateTree(plan)
	sure(t, err)
	for i := range plan.Files {
		w, err := tree.Turn(i)
		sure(t, err)
		sure(t, w.WriteRecord(make([]byte, longFrames*plainFrame)))
		runtime.GOMAXPROCS(1)
	}
	sure(t, tree.Close())
}

// TestShards checks that a shard ends with the record that fills it, counting its first record.
func TestShards(t *testing.T) {
	plan := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), ShardSize: 10, Ending: ".txt"}
	tree, err := CreateTree(plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{"aaaa\n", "bbbb\n", "cccc\n", "ddd\n", "\n", "eeeeeeeeeeeeeee\n", "f\n"} {
		out, err := tree.Turn(0)
		if err == nil {
			out, err = tree.Shard(len(record))
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

// TestTreeGone resumes a run from a mark, also with empty outputs. It refuses if an output is gone
// or the stage belongs to another run.
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
	if _, err := tree.Sync(); err != nil { // a is in place
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

// TestTreeLockTorn resumes after a power cut that left the names of begun outputs as zeros. Only the
// token was synced.
func TestTreeLockTorn(t *testing.T) {
	plan := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Early: true, Files: []TreeOutput{{Name: "a"}, {Name: "b"}}}
	tree, err := CreateTree(plan)
	sure(t, err)
	w, err := tree.Turn(0)
	sure(t, err)
	sure(t, w.WriteRecord([]byte("one\n")))
	at, err := tree.Sync()
	sure(t, err)
	sure(t, tree.Abort())
	lock := tree.partial(treeName)
	text := []byte(readFile(t, lock))
	clear(text[16:])
	sure(t, os.WriteFile(lock, text, 0o666))
	tree, err = OpenTree(plan, at)
	sure(t, err)
	_, err = tree.Turn(1)
	sure(t, err)
	sure(t, tree.Abort())
	l, err := readLock(take(filepath.Join(plan.Dir, treeName)))
	sure(t, err)
	defer l.claim.Release()
	if l.token != at.Stage || !slices.Equal(l.begun, []string{"b"}) {
		t.Errorf("the torn lock has the token %q and the outputs %q", l.token, l.begun)
	}
}

// TestTreeLonger refuses to resume if anything was appended to a whole output.
func TestTreeLonger(t *testing.T) {
	plan := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Early: true, Files: []TreeOutput{{Name: "a"}, {Name: "b"}}}
	tree, err := CreateTree(plan)
	sure(t, err)
	w, err := tree.Turn(0)
	sure(t, err)
	sure(t, w.WriteRecord([]byte("one\n")))
	_, err = tree.Turn(1)
	sure(t, err)
	at, err := tree.Sync()
	sure(t, err)
	sure(t, tree.Abort())
	if len(at.Done) != 1 {
		t.Fatalf("%d outputs are whole", len(at.Done))
	}
	sure(t, os.WriteFile(filepath.Join(plan.Dir, "a.partial"), []byte("one\ntwo\n"), 0o666))
	if tree, err := OpenTree(plan, at); !errors.Is(err, errOtherFile) {
		t.Errorf("an output is longer: %v", errors.Join(err, tree.Abort()))
	}
}

// TestPlacedAnew stops a run without a checkpoint while its outputs are moved into place. Only the
// same command may replace them, and nothing replaces older files.
func TestPlacedAnew(t *testing.T) {
	defer func() { step.Hook = nil }()
	errStop := errors.New("stopped")
	plan := func() *TreePlan {
		return &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Files: []TreeOutput{{Name: "a"}, {Name: "b"}}}
	}
	fill := func(tree *Tree, text string) error {
		for i := range tree.Files {
			w, err := tree.Turn(i)
			sure(t, err)
			sure(t, w.WriteRecord([]byte(text)))
		}
		return tree.Close()
	}
	refused := func(what string, p *TreePlan, worthless ...FileID) {
		t.Helper()
		if tree, err := CreateTree(p, worthless...); err == nil || !strings.Contains(err.Error(), "already exists") {
			t.Errorf("%s: %v", what, errors.Join(err, tree.Abort()))
		}
	}
	stopped := func(p *TreePlan, at string, n int) FileID {
		t.Helper()
		tree, err := CreateTree(p)
		sure(t, err)
		step.Hook = func(name string) error {
			if name == at {
				if n--; n == 0 {
					return errStop
				}
			}
			return nil
		}
		defer func() { step.Hook = nil }()
		id := tree.ID()
		if err := fill(tree, "one\n"); !errors.Is(err, errStop) {
			t.Fatal(at, err)
		}
		return id
	}
	for n := 1; n <= 2; n++ {
		p := plan()
		id := stopped(p, "placed output", n)
		refused("another run", p)
		tree, err := CreateTree(p, id)
		sure(t, err)
		sure(t, fill(tree, "two\n"))
		for _, f := range p.Files {
			if got, err := os.ReadFile(filepath.Join(p.Dir, f.Name)); string(got) != "two\n" {
				t.Errorf("%s is %q, %v", f.Name, got, err)
			}
		}
	}
	p := plan()
	stopped(p, "removed tree lock", 1)
	refused("when all is over", p)
	p = plan()
	id := stopped(p, "closed tree", 1)
	writeTree(t, p.Dir, map[string]string{"a": "another's"})
	refused("before anything was placed", p, id)
}

// TestPartialInTheWay removes an empty partial file of an earlier run, and gives one with content a
// free name. A link is in the way whatever its target.
func TestPartialInTheWay(t *testing.T) {
	p := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Files: []TreeOutput{{Name: "a"}}}
	killed := func(text string, aside string) {
		t.Helper()
		tree, err := CreateTree(p)
		sure(t, err)
		w, err := tree.Turn(0)
		sure(t, err)
		if text != "" {
			sure(t, w.WriteRecord([]byte(text)))
		}
		_, err = tree.Sync()
		sure(t, err)
		if strings.Join(tree.Aside(), " ") != aside {
			t.Errorf("put aside as %q, not %q", tree.Aside(), aside)
		}
		sure(t, tree.current.stop())
		sure(t, tree.release())
	}
	killed("", "")
	killed("one\n", "")
	writeTree(t, p.Dir, map[string]string{"a.partial.1": "another's file"})
	killed("", filepath.Join(p.Dir, "a.partial.2"))
	if err := os.Symlink("nothing", filepath.Join(p.Dir, "a")); err != nil {
		t.Skip("no links:", err)
	}
	if _, err := CreateTree(p); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a link to nothing: %v", err)
	}
}

// TestTreeAborted checks that aborting a run keeps outputs covered by a mark, even empty ones, and
// removes others. Aborting the next run changes nothing, and in the end all outputs exist.
func TestTreeAborted(t *testing.T) {
	p := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Early: true, Files: []TreeOutput{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	tree, err := CreateTree(p)
	sure(t, err)
	_, err = tree.Turn(0)
	sure(t, err)
	sure(t, tree.Abort())
	if list, err := os.ReadDir(p.Dir); len(list) != 0 || err != nil {
		t.Errorf("%v is left, %v", list, err)
	}
	tree, err = CreateTree(p)
	sure(t, err)
	_, err = tree.Turn(0)
	sure(t, err)
	at, err := tree.Sync()
	sure(t, err)
	sure(t, tree.Abort())
	for range 2 {
		tree, err = OpenTree(p, at)
		sure(t, err)
		sure(t, tree.Abort())
	}
	tree, err = OpenTree(p, at)
	sure(t, err)
	_, err = tree.Turn(1)
	sure(t, err)
	if _, err := tree.Turn(0); err == nil || !strings.Contains(err.Error(), "turn is over") {
		t.Errorf("the first output again: %v", err)
	}
	sure(t, tree.End())
	at, err = tree.Sync()
	sure(t, err)
	sure(t, tree.Close())
	for _, f := range p.Files {
		if _, err := os.Stat(filepath.Join(p.Dir, f.Name)); err != nil {
			t.Error(err)
		}
	}
	for what, change := range map[string]func() error{
		"":        func() error { return nil },
		"longer":  func() error { return os.WriteFile(filepath.Join(p.Dir, "b"), []byte("x"), 0o666) },
		"missing": func() error { return os.Remove(filepath.Join(p.Dir, "b")) },
	} {
		sure(t, change())
		if as, err := p.TreeIsAs(at); as != (what == "") || err != nil {
			t.Errorf("%s: %v, %v", what, as, err)
		}
		sure(t, os.WriteFile(filepath.Join(p.Dir, "b"), nil, 0o666))
	}
	others := slices.Clone(p.Files)
	others[0].Name = "another"
	sure(t, os.Rename(filepath.Join(p.Dir, p.Files[0].Name), filepath.Join(p.Dir, "another")))
	q := *p
	q.Files = others
	if as, err := q.TreeIsAs(at); as || err != nil {
		t.Errorf("under another name: %v, %v", as, err)
	}
}

// TestCutTree cuts partial files back to a mark and removes later ones. If one differs, all stay.
func TestCutTree(t *testing.T) {
	p := &TreePlan{Dir: filepath.Join(t.TempDir(), "out"), Early: true, Files: []TreeOutput{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	tree, err := CreateTree(p)
	sure(t, err)
	write := func(n int, text string) {
		t.Helper()
		w, err := tree.Turn(n)
		sure(t, err)
		sure(t, w.WriteRecord([]byte(text)))
	}
	write(0, "on")
	first, err := tree.Sync()
	sure(t, err)
	write(0, "e\n")
	if _, err := tree.Sync(); err != nil || first.Open.Mark.Size != 2 {
		t.Errorf("a mark that was returned has changed: %+v, %v", first.Open, err)
	}
	write(1, "two\n")
	at, err := tree.Sync()
	sure(t, err)
	write(1, "more\n")
	write(2, "three\n")
	_, err = tree.current.EndFrame()
	sure(t, err)
	sure(t, tree.Abort())
	other := TreeMark{Stage: at.Stage, Open: &TreeFile{Name: "b", Mark: at.Done[0].Mark}}
	anothers := at
	anothers.Stage = "another"
	for _, c := range []struct {
		at    TreeMark
		left  string
		files map[string]string
	}{
		{other, "", map[string]string{"a": "one\n", "b": "two\nmore\n", "c": "three\n"}},
		{anothers, "a.partial b.partial", map[string]string{"a": "one\n", "b": "two\n", "c": "three\n"}},
		{at, "a.partial b.partial", map[string]string{"a": "one\n", "b": "two\n", "c": ""}},
	} {
		left, err := CutTree(p.Dir, c.at)
		for i := range left {
			left[i], _ = filepath.Rel(p.Dir, left[i])
		}
		if strings.Join(left, " ") != c.left || err != nil {
			t.Errorf("left %q, %v, want %q", left, err, c.left)
		}
		for name, want := range c.files {
			if got, err := os.ReadFile(filepath.Join(p.Dir, name+input.PartialSuffix)); string(got) != want || (err != nil) != (want == "") {
				t.Errorf("%s is %q, %v, want %q", name, got, err, want)
			}
		}
	}
}

func sure(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
