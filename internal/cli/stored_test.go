package cli

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/tools/txtar"

	"github.com/firstseen/firstseen/internal/testing/indextest"
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
	t.Setenv("TMPDIR", t.TempDir())
	for _, s := range storedIndexes {
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join("../../testdata/stored", s.name+".txtar")
			if *update {
				s.write(t, path)
			}
			stored, err := txtar.ParseFile(path)
			indextest.Must(t, err)
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
	runHere(t, "index", "check", seen)
	dump := ""
	if !strings.HasSuffix(s.name, "filter") {
		dump = runHere(t, "index", "dump", seen)
	}
	query := strings.ReplaceAll(runHere(t, "query", seen, asked), asked, "asked")
	runHere(t, "dedup", "-q", "--index", seen, "-o", os.DevNull, "--report", report, asked)
	verdicts := regexp.MustCompile(`,"exact".*`).ReplaceAllString(readFile(t, report), "")
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
		runHere(t, args...)
	}
	packed := packStored(t, seen)
	answers := s.answers(t, dir)
	text := txtar.Format(&txtar.Archive{Files: []txtar.File{
		{Name: "index.tar.zst.base64", Data: packed},
		{Name: "dump", Data: []byte(answers[0])},
		{Name: "query", Data: []byte(answers[1])},
		{Name: "report of a run", Data: []byte(answers[2])},
	}})
	indextest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	writeFile(t, path, string(text))
}

func packStored(t *testing.T, dir string) []byte {
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	indextest.Must(t, err)
	files := tar.NewWriter(w)
	indextest.Must(t, errors.Join(files.AddFS(os.DirFS(dir)), files.Close(), w.Close()))
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
	indextest.Must(t, err)
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
		content, err := io.ReadAll(files)
		indextest.Must(t, errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o600)))
	}
}
