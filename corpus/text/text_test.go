package text_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	plain "github.com/firstseen/firstseen/corpus/text"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

func read(f corpus.Format, text string, cfg corpus.SourceConfig) (got []string, err error) {
	cfg.Stdin = strings.NewReader(text)
	err = corpustest.Each(f, corpustest.Stdin, cfg, func(_ *corpus.Block, doc *corpus.Document) {
		if doc.Bad != nil {
			got = append(got, fmt.Sprintf("%v bad: %s", doc.At, doc.Bad.Reason))
		} else {
			got = append(got, fmt.Sprintf("%s %q", doc.ID, doc.Text))
		}
	})
	return got, err
}

// oracle applies the rules of the package to the whole text.
func oracle(f corpus.Format, text string) (want []string) {
	switch {
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		return nil
	}
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	var records []string
	if f.Noun() == "paragraph" {
		// An empty line ends the record unless it is the record's first line.
		lines, record := strings.SplitAfter(text, "\n"), ""
		for _, line := range lines {
			bare := line == "\n" || line == "\r\n"
			if record += line; bare && record != line {
				records, record = append(records, strings.Trim(record, "\r\n")), ""
			}
		}
		records = append(records, strings.Trim(record, "\r\n"))
	} else {
		for line := range strings.SplitSeq(text, "\n") {
			records = append(records, strings.TrimSuffix(line, "\r"))
		}
	}
	for i, r := range records {
		switch {
		case strings.TrimSpace(r) == "":
		case !utf8.ValidString(r):
			want = append(want, fmt.Sprintf("%d bad: it is not UTF-8", i+1))
		default:
			want = append(want, fmt.Sprintf("f:%d %q", i+1, r))
		}
	}
	return want
}

func compare(t interface{ Errorf(string, ...any) }, text string) {
	for _, f := range []corpus.Format{plain.Formats["lines"], plain.Formats["paragraphs"]} {
		want := oracle(f, text)
		if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			continue
		}
		for _, size := range []int{1, 2, 3, 7, 1 << 20} {
			got, err := read(f, text, corpus.SourceConfig{BlockSize: size})
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s of %q in blocks of %d:\n%s\nwant\n%s\n%v", f.Name(), text, size, strings.Join(got, "\n"), strings.Join(want, "\n"), err)
			}
		}
	}
}

// TestPlain compares random texts with the oracle, at every block size.
func TestPlain(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "\n\n\na\n\n\n\nb\r\n\r\nc\n \nd", "\xef\xbb\xbfa\n\nb", "a\r\n\nb\n\r\n\n", "第一行\n第二行\n\n\xff\n"} {
		compare(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		compare(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"\n", "\n\n", "\r\n", "\r", " ", "a", "字", "\xff", "long enough"}), 0, 12).Draw(t, "text"), ""))
	})
}

// TestPlainRejects checks that all records of UTF-16 are bad, and so is an overlong one.
func TestPlainRejects(t *testing.T) {
	got, err := read(plain.Formats["lines"], "\xff\xfea\x00\n\x00b\x00", corpus.SourceConfig{})
	if err != nil || len(got) != 2 || !strings.Contains(got[0], "UTF-16") {
		t.Errorf("%q, %v", got, err)
	}
	got, err = read(plain.Formats["paragraphs"], "one\n\n"+strings.Repeat("x\n", 40)+"\nthree\n", corpus.SourceConfig{MaxRecord: 16})
	want := []string{`f:1 "one"`, "2 bad: the paragraph is longer than the limit of 16 bytes", `f:3 "three"`}
	if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestKeep checks that written records are read back unchanged.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.txt")
	f := plain.Formats["paragraphs"]
	w, err := output.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"a\r\nb", "c"} {
		if err := f.Keep(w, []byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	got, readErr := read(f, string(data), corpus.SourceConfig{})
	if want := `f:1 "a\r\nb"|f:2 "c"`; err != nil || readErr != nil || strings.Join(got, "|") != want {
		t.Errorf("%q, %v %v", got, err, readErr)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("a\n\nb\r\n\r\nc")
	f.Fuzz(func(t *testing.T, text string) {
		// Texts that begin like a compressed file or another known format are no plain text.
		if _, err := read(plain.Formats["lines"], text, corpus.SourceConfig{}); err == nil && len(text) < 1<<12 {
			compare(t, text)
		}
	})
}
