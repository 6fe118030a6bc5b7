package corpus_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// archiveEndings holds an ending for each kind of archive.
var archiveEndings = []string{".zip", ".tar", ".tgz", ".tar.zst"}

// TestArchivesAreFolders checks that an archive yields the records of a folder with the same files,
// from the beginning and from any place. Compressed files may be decoded ahead.
func TestArchivesAreFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	drawn := 0
	rapid.Check(t, func(rt *rapid.T) {
		drawn++
		dir := fmt.Sprint(drawn)
		files := map[string]string{}
		for i := range rapid.IntRange(1, 5).Draw(rt, "files") {
			data, name := genLines(rt), fmt.Sprintf("%s/%s%d.jsonl", dir, rapid.SampledFrom([]string{"", "b/", "文/a/"}).Draw(rt, "folder"), i)
			if pack := rapid.SampledFrom([]func([]byte) []byte{nil, Gzipped, Zstded}).Draw(rt, "pack"); pack != nil {
				data, name = pack(data), name+".gz" // the content decides the compression, not the ending
			}
			files[name] = string(data)
		}
		filetest.Write(rt, files)
		ending := rapid.SampledFrom(archiveEndings).Draw(rt, "ending")
		if err := corpustest.Pack(dir+ending, dir); err != nil {
			rt.Fatal(err)
		}
		inputs, _, err := input.Expand([]string{dir}, endings)
		if err != nil {
			rt.Fatal(err)
		}
		members, passed, err := input.Expand([]string{dir + ending}, endings)
		if err != nil || len(members) != len(inputs) {
			rt.Fatalf("%d members of %d files, passed over %v, %v", len(members), len(inputs), passed, err)
		}
		cfg := SourceConfig{BlockSize: rapid.IntRange(1, 500).Draw(rt, "block"), MaxRecord: rapid.SampledFrom([]int{0, 40}).Draw(rt, "max")}
		if rapid.Bool().Draw(rt, "ahead") {
			cfg.Ahead = 2
		}
		cfg.SkipInputs = rapid.IntRange(0, len(inputs)-1).Draw(rt, "input")
		cfg.SkipTo = Place{Record: rapid.Int64Range(0, 9).Draw(rt, "record")}
		want, err := readAll(t, inputs, cfg, jsonl.Fields{ID: "id"})
		if err != nil {
			rt.Fatal(err)
		}
		got, err := readAll(t, members, cfg, jsonl.Fields{ID: "id"})
		if err != nil {
			rt.Fatal(err)
		}
		for i := range want {
			file := want[i].File
			want[i].File = dir + ending + strings.TrimPrefix(file, dir)
			if want[i].ID == fmt.Sprintf("%s:%d", file, want[i].Line) {
				want[i].ID = fmt.Sprintf("%s:%d", want[i].File, want[i].Line)
			}
		}
		sameRecords(t, got, want)
	})
}

// TestExpandArchives checks that an archive expands to its members, as a folder to its files, and
// that a member can be named.
func TestExpandArchives(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, map[string]string{
		"in/a.jsonl": "{}", "in/d/b.json.gz": "x", "in/c.txt": "text", "in/none": "", "in/other.zip": "PK", "texts/c.txt": "text",
		"wacz/datapackage.json": "{}", "wacz/archive/a.warc.gz": "x", "broken/x.zip": "PK and no more",
	})
	for name, folder := range map[string]string{"a.zip": "in", "a.tar.zst": "in", "dir/x.tgz": "in", "dir/y.zip": "texts", "w.zip": "wacz"} {
		if err := errors.Join(os.MkdirAll("dir", 0o777), corpustest.Pack(name, folder)); err != nil {
			t.Fatal(err)
		}
	}
	filetest.Write(t, map[string]string{"dir/z.jsonl": "{}"})
	for _, c := range []struct {
		args, want string // names, or "error: " and part of the message
		passed     string
	}{
		{"a.zip", "a.zip/a.jsonl a.zip/d/b.json.gz", "a.zip:map[:1 .txt:1 .zip:1]"},
		{"a.tar.zst ./a.zip", "a.tar.zst/a.jsonl a.tar.zst/d/b.json.gz ./a.zip/a.jsonl ./a.zip/d/b.json.gz", "a.tar.zst:map[:1 .txt:1 .zip:1] a.tar.zst:3 bytes ./a.zip:map[:1 .txt:1 .zip:1]"},
		{"a.zip/d/b.json.gz a.zip/c.txt", "a.zip/d/b.json.gz a.zip/c.txt", ""},
		{"dir", "dir/x.tgz/a.jsonl dir/x.tgz/d/b.json.gz dir/z.jsonl", "dir/x.tgz:map[:1 .txt:1 .zip:1] dir/x.tgz:3 bytes dir/y.zip:map[.txt:1]"},
		{"a.*", "a.tar.zst/a.jsonl a.tar.zst/d/b.json.gz a.zip/a.jsonl a.zip/d/b.json.gz", "a.tar.zst:map[:1 .txt:1 .zip:1] a.tar.zst:3 bytes a.zip:map[:1 .txt:1 .zip:1]"},
		{"w.zip", "w.zip", ""},
		{"a.zip/ a.tar.zst//", "a.zip/a.jsonl a.zip/d/b.json.gz a.tar.zst/a.jsonl a.tar.zst/d/b.json.gz", "a.zip:map[:1 .txt:1 .zip:1] a.tar.zst:map[:1 .txt:1 .zip:1] a.tar.zst:3 bytes"},
		{"none.zip/", "error: none.zip", ""},
		{"a.zip/d/", `error: archive a.zip holds no file "d/"`, ""},
		{"dir/y.zip", "error: file (plain, .gz, .zst, .bz2, .xz or .lz4) in archive dir/y.zip: it holds 1 .txt, readable only with --format", ""},
		{"a.zip/d/none", `error: archive a.zip holds no file "d/none"`, ""},
		{"none.zip/a", "error: none.zip", ""},
		{"in/a.jsonl/a", "error: in/a.jsonl/a", ""},
		{"broken", "error: archive broken/x.zip: it is not a zip archive, is cut off", ""},
	} {
		inputs, passed, err := input.Expand(strings.Fields(c.args), endings)
		var names, told []string
		for _, in := range inputs {
			names = append(names, in.Name)
			if in.Path != in.Name || in.Size < 0 || !strings.HasPrefix(in.Name, in.File()) {
				t.Errorf("%s: %+v", c.args, in)
			}
		}
		for _, p := range passed {
			what := fmt.Sprint(p.Others)
			if p.Unpacked > 0 {
				what = fmt.Sprint(p.Unpacked, " bytes")
			}
			told = append(told, p.Path+":"+what)
		}
		got := strings.Join(names, " ")
		if part, isError := strings.CutPrefix(c.want, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %s", c.args, err, part)
			}
			continue
		}
		if err != nil || got != c.want || strings.Join(told, " ") != c.passed {
			t.Errorf("%s:\n got %s, %s, %v\nwant %s, %s", c.args, got, strings.Join(told, " "), err, c.want, c.passed)
		}
	}
}

// TestFinder finds files and archive members, whether or not their archive was listed.
func TestFinder(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, map[string]string{"in/a.jsonl": "one", "in/b.txt": "two"})
	for _, ending := range archiveEndings {
		if err := corpustest.Pack("in"+ending, "in"); err != nil {
			t.Fatal(err)
		}
		inputs, _, err := input.Expand([]string{"in" + ending}, endings)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*input.Finder{input.NewFinder(inputs, compress.Bounds{}), input.NewFinder(nil, compress.Bounds{})} {
			for name, want := range map[string]string{"/a.jsonl": "one", "/b.txt": "two", "/c": "", "/in/a.jsonl": ""} {
				in, err := f.Find("in" + ending + name)
				if want == "" {
					if !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s%s: %v", ending, name, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := contentOf(t, in); got != want {
					t.Errorf("%s: %q, want %q", in.Name, got, want)
				}
			}
		}
	}
	f := input.NewFinder(nil, compress.Bounds{})
	if in, err := f.Find("in/a.jsonl"); err != nil || contentOf(t, in) != "one" || in.Size != 3 {
		t.Errorf("%+v, %v", in, err)
	}
	if in, err := f.Find("in"); err != nil || in.Size != -1 {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := f.Find("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestFingerprintOfMembers checks that a member's fingerprint covers its bytes, not the archive's.
func TestFingerprintOfMembers(t *testing.T) {
	t.Chdir(t.TempDir())
	prints := func(ending, first string) (sums []uint64) {
		filetest.Write(t, map[string]string{"in/a.jsonl": first, "in/b.jsonl": "the second"})
		if err := corpustest.Pack("in"+ending, "in"); err != nil {
			t.Fatal(err)
		}
		inputs, _, err := input.Expand([]string{"in" + ending}, endings)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range inputs {
			sum, err := input.Fingerprint(in)
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, sum)
		}
		return sums
	}
	for _, ending := range archiveEndings {
		a, b := prints(ending, "one"), prints(ending, "another")
		if a[0] == b[0] || a[1] != b[1] || a[0] == a[1] {
			t.Errorf("%s: %x, %x", ending, a, b)
		}
	}
}

// TestDamagedMember checks that records before damage are read and that the error names the member.
func TestDamagedMember(t *testing.T) {
	t.Chdir(t.TempDir())
	line := `{"text":"some text of which there is a lot"}` + "\n"
	filetest.Write(t, map[string]string{"in/a.jsonl": strings.Repeat(line, 3), "in/b.jsonl": strings.Repeat(line, 3)})
	if err := corpustest.Pack("in.zip", "in"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("in.zip")
	if err != nil {
		t.Fatal(err)
	}
	data[strings.Index(string(data), "some text")] = 'S' // the first member is stored, not compressed
	filetest.Write(t, map[string]string{"in.zip": string(data)})
	inputs, _, err := input.Expand([]string{"in.zip"}, endings)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(t, inputs, SourceConfig{BlockSize: 60}, jsonl.Fields{})
	if len(got) < 2 || err == nil || err.Error() != "reading in.zip/a.jsonl: it is damaged: its checksum does not match" {
		t.Errorf("%d records, %v", len(got), err)
	}
}

// TestTreeOfMembers checks that members' outputs lie only below a folder named after the archive.
func TestTreeOfMembers(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, map[string]string{"in/a.jsonl": "{}", "in/d/b.jsonl": "{}", "dir/c.jsonl": "{}"})
	if err := errors.Join(corpustest.Pack("dir/in.zip", "in"), corpustest.Pack("in.tar", "in")); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"in.tar":               "in.tar/a.jsonl in.tar/d/b.jsonl",
		"dir":                  "c.jsonl in.zip/a.jsonl in.zip/d/b.jsonl",
		"in.tar dir/in.zip":    "in.tar/a.jsonl in.tar/d/b.jsonl dir/in.zip/a.jsonl dir/in.zip/d/b.jsonl",
		"dir/in.zip/d/b.jsonl": "in.zip/d/b.jsonl",
	} {
		inputs, _, err := input.Expand(strings.Fields(args), endings)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := output.PlanTree("out", strings.Fields(args), inputs)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range plan.Files {
			names = append(names, filepath.ToSlash(f.Name))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
		if err := plan.Check(strings.Fields(args), inputs, "", ""); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestNamesThatAreNoFiles refuses names that no folder can hold before anything is written.
func TestNamesThatAreNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a.jsonl", "a.jsonl"}, "would have the same output"},
		{[]string{"a.jsonl/b.jsonl", "a.jsonl"}, "would be a file, but that of"},
		{[]string{"a.jsonl", "./a.jsonl/c/b.jsonl"}, "would be a file, but that of"},
		{[]string{strings.Repeat("x", 250) + ".jsonl"}, "has a name too long for a file"},
		{[]string{"/etc/a.jsonl", "../../a.jsonl"}, ""},
	} {
		var data bytes.Buffer
		w := tar.NewWriter(&data)
		for _, name := range c.names {
			if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, map[string]string{"x.tar": data.String()})
		inputs, _, err := input.Expand([]string{"x.tar"}, endings)
		if err != nil || len(inputs) != len(c.names) {
			t.Fatal(inputs, err)
		}
		plan, err := output.PlanTree("out", []string{"x.tar"}, inputs)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.names, err, c.want)
			}
			continue
		}
		if err != nil || slices.ContainsFunc(plan.Files, func(f output.TreeOutput) bool {
			return !strings.HasPrefix(filepath.Join("out", f.Name), filepath.Join("out", "x.tar"))
		}) {
			t.Errorf("%q: %v, %v", c.names, plan, err)
		}
	}
}

func contentOf(t *testing.T, in input.Input) string {
	t.Helper()
	f, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
