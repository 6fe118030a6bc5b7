package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/tools/txtar"
)

// storedIndex is an index as an earlier version left it in testdata/stored, with what it must answer.
type storedIndex struct {
	name  string
	lines []int      // of the guide: those up to each index are one input
	runs  [][]string // the commands that made it; INDEX and 1, 2, … stand for the index and the inputs
}

var storedIndexes = []storedIndex{
	{"0.3-table", []int{12, 20}, [][]string{
		{"index", "create", "--no-key", "--docs", "50", "INDEX"},
		{"dedup", "-q", "--index", "INDEX", "--batch", "first", "-o", os.DevNull, "1"},
		{"dedup", "-q", "--index", "INDEX", "--batch", "second", "-o", os.DevNull, "2"},
		{"index", "forget", "INDEX", "amd64/en/ch01s03"},
	}},
	{"0.3-window", []int{12}, [][]string{
		{"index", "create", "--key", "--window", "2d", "--docs", "50", "INDEX"},
		{"dedup", "-q", "--index", "INDEX", "-o", os.DevNull, "1"},
	}},
	{"0.3-filter", []int{12, 20}, [][]string{
		{"index", "create", "--filter-only", "--no-key", "--docs", "50", "INDEX"},
		{"dedup", "-q", "--index", "INDEX", "-o", os.DevNull, "1"},
		{"dedup", "-q", "--index", "INDEX", "-o", os.DevNull, "2"},
	}},
	{"0.3-simhash", []int{12}, [][]string{
		{"index", "create", "--method", "simhash", "--no-key", "--docs", "50", "INDEX"},
		{"dedup", "-q", "--index", "INDEX", "-o", os.DevNull, "1"},
	}},
}

// TestStoredIndexes checks that indexes of earlier versions are read as docs/format.md promises: they
// are sound, list the same documents, answer queries as then, and a run continues them. With -update
// it makes them anew, as only a new format needs.
func TestStoredIndexes(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	for _, s := range storedIndexes {
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join("../../testdata/stored", s.name+".txtar")
			if *update {
				s.write(t, path)
			}
			stored, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			unpackStored(t, filepath.Join(dir, "seen"), stored.Files[0].Data)
			for i, got := range s.answers(t, dir) {
				if want := string(stored.Files[1+i].Data); got != want {
					t.Errorf("%s differs:\n%s\nwant\n%s", stored.Files[1+i].Name, got, want)
				}
			}
		})
	}
}

// answers returns the list of the documents, the answers to queries, and what a run that continues the
// index says of the same documents, after a check.
func (s *storedIndex) answers(t *testing.T, dir string) []string {
	seen, asked, report := filepath.Join(dir, "seen"), filepath.Join(dir, "asked"), filepath.Join(dir, "report")
	writeFile(t, asked, guideLines(t, 0, 30))
	storedRun(t, dir, "index", "check", seen)
	dump := ""
	if !strings.HasSuffix(s.name, "filter") {
		dump = storedRun(t, dir, "index", "dump", seen)
	}
	query := strings.ReplaceAll(storedRun(t, dir, "query", seen, asked), asked, "asked")
	storedRun(t, dir, "dedup", "-q", "--index", seen, "-o", os.DevNull, "--report", report, asked)
	lines, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := ""
	for line := range strings.Lines(string(lines)) {
		line, _, _ = strings.Cut(line, `,"exact"`)
		verdicts += line + "\n"
	}
	return []string{dump, query, verdicts}
}

func (s *storedIndex) write(t *testing.T, path string) {
	dir := t.TempDir()
	seen, from := filepath.Join(dir, "seen"), 0
	names := []string{"INDEX", seen}
	for i, to := range s.lines {
		name := filepath.Join(dir, string(rune('1'+i)))
		writeFile(t, name, guideLines(t, from, to))
		names, from = append(names, filepath.Base(name), name), to
	}
	for _, args := range s.runs {
		args = strings.Split(strings.Join(args, "\n"), "\n")
		for i, arg := range args {
			for j := 0; j < len(names); j += 2 {
				if arg == names[j] {
					args[i] = names[j+1]
				}
			}
		}
		storedRun(t, dir, args...)
	}
	packed := packStored(t, seen)
	answers := s.answers(t, dir)
	text := txtar.Format(&txtar.Archive{Files: []txtar.File{
		{Name: "index.tar.zst.base64", Data: packed},
		{Name: "dump", Data: []byte(answers[0])},
		{Name: "query", Data: []byte(answers[1])},
		{Name: "report of a run", Data: []byte(answers[2])},
	}})
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(text))
}

func storedRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	t.Setenv("TMPDIR", dir)
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, nil, &stdout, &stderr); code != exitDone {
		t.Fatalf("%v: exit code %d, %s", args, code, &stderr)
	}
	return stdout.String()
}

func guideLines(t *testing.T, from, to int) string {
	text, err := os.ReadFile("../../testdata/bilingual/guide.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.SplitAfter(string(text), "\n")[from:to], "")
}

func packStored(t *testing.T, dir string) []byte {
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewWriter(w)
	for _, err := range []error{files.AddFS(os.DirFS(dir)), files.Close(), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	for line := []byte(base64.StdEncoding.EncodeToString(packed.Bytes())); len(line) > 0; {
		n := min(100, len(line))
		text.Write(append(line[:n:n], '\n'))
		line = line[n:]
	}
	return text.Bytes()
}

func unpackStored(t *testing.T, dir string, text []byte) {
	r, err := zstd.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for files := tar.NewReader(r); ; {
		head, err := files.Next()
		if err != nil {
			break // the end
		}
		path := filepath.Join(dir, filepath.FromSlash(head.Name))
		if head.FileInfo().IsDir() {
			continue
		}
		var content bytes.Buffer
		if _, err := content.ReadFrom(files); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, content.String())
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
