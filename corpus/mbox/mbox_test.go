package mbox_test

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/mbox"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/base/html"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

var update = flag.Bool("update", false, "write testdata/mails.golden")

var format = mbox.Format{Text: page.TextOf(html.Visible)}

// read returns a line for each mail, as bad, or with its id, its time, and a mark if it is cut off.
func read(f corpus.Format, text string, cfg corpus.SourceConfig) (got []string, raws string, err error) {
	cfg.Stdin = strings.NewReader(text)
	err = corpustest.Each(f, corpustest.Stdin, cfg, func(_ *corpus.Block, doc *corpus.Document) {
		raws += string(doc.Raw) + "\n"
		switch {
		case doc.Bad != nil:
			got = append(got, fmt.Sprintf("%v bad: %s", doc.At, doc.Bad.Reason))
			return
		case !utf8.Valid(doc.Text) || !utf8.Valid(doc.ID):
			err = fmt.Errorf("not UTF-8: %q %q", doc.ID, doc.Text)
		}
		line := fmt.Sprintf("%v %s", doc.At, doc.ID)
		if !doc.Time.IsZero() {
			line += doc.Time.Format(" 2006-01-02T15:04:05Z")
		}
		if doc.Part {
			line += " part"
		}
		got = append(got, fmt.Sprintf("%s\n%s\n", line, doc.Text))
	})
	return got, raws, err
}

func mails(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/mails.mbox")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestMails compares English and Chinese mails of many kinds with what a reader says that each writer
// wrote, in blocks of any size.
func TestMails(t *testing.T) {
	text := mails(t)
	if !format.Recognize([]byte(text)) || format.Recognize([]byte("From here on\nthere: text\n")) {
		t.Error("recognized wrongly")
	}
	for _, size := range []int{1 << 20, 1, 7, 160, 1000} {
		got, _, err := read(format, text, corpus.SourceConfig{BlockSize: size})
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(got, "\n")
		if *update {
			if err := os.WriteFile("testdata/mails.golden", []byte(all), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/mails.golden")
		if err != nil || all != string(want) {
			t.Fatalf("in blocks of %d, %v:\n%s", size, err, all)
		}
	}
}

// TestCut compares the mails of random files with a split by lines, and checks that kept mails are
// those of the input byte for byte.
func TestCut(t *testing.T) {
	separator := regexp.MustCompile(`^From .*\d:\d\d`)
	pieces := []string{"\n", "\n", "\r\n", "\r\n", "From a 1:00", "From a 1:00\nS: x", "From a", ">From b 2:00", "x", "字", "Subject: s", strings.Repeat("y", 150)}
	rapid.Check(t, func(t *rapid.T) {
		text := "From a 1:00\nS: x\n\n" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 16).Draw(t, "pieces"), "")
		var want []string
		record, blank := "", false
		for line := range strings.SplitAfterSeq(text, "\n") {
			if blank && separator.MatchString(line) && len(line) < 140 && strings.HasSuffix(line, "\n") {
				want, record = append(want, record), ""
			}
			record, blank = record+line, line == "\n" || line == "\r\n"
		}
		want = append(want, record)
		path := filepath.Join(os.TempDir(), fmt.Sprintf("mbox-%d", os.Getpid()))
		defer os.Remove(path)
		for _, size := range []int{1, 5, 1 << 20} {
			w, err := output.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			var kept string
			n := 0
			err = corpustest.Each(format, corpustest.Stdin, corpus.SourceConfig{BlockSize: size, Stdin: strings.NewReader(text)}, func(_ *corpus.Block, doc *corpus.Document) {
				if n >= len(want) || want[n] != string(doc.Raw) {
					t.Fatalf("mail %d of %q in blocks of %d: %q, want one of %q", n, text, size, doc.Raw, want)
				}
				kept += want[n]
				n++
				if err := format.Keep(w, doc.Raw); err != nil {
					t.Fatal(err)
				}
			})
			if err != nil || n != len(want) {
				t.Fatalf("%d mails of %q, want %q: %v", n, text, want, err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if written, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(written), kept) || strings.TrimSpace(string(written[len(kept):])) != "" {
				t.Fatalf("%q was kept as %q, want %q: %v", text, written, kept, err)
			}
		}
	})
}

// TestHostile bounds the text and the memory of mails made to be large: parts within parts, a header
// without end, and parts by the thousand.
func TestHostile(t *testing.T) {
	nested := ""
	for i := range 40 {
		nested += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	big := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("字"), 3<<20))
	for name, c := range map[string]struct{ mail, want string }{
		"nested":        {nested + "\n\ntext", "1 f:1 part\n"},
		"long header":   {strings.Repeat("a: b\n", 1<<20), "1 bad: the header of the mail cannot be read"},
		"one line":      {"Subject: " + strings.Repeat("x", 8<<20) + "\n\ntext", "1 bad: the header"},
		"nested header": {"Content-Type: message/rfc822\n\n" + strings.Repeat("a: b\n", 1<<20), "1 f:1\n"},
		"big":           {"Content-Transfer-Encoding: base64\n\n" + big, "1 f:1 part\n字"},
		"many":          {"Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", 1<<16), "1 f:1 part\nx"},
		"quotes":        {"Content-Type: text/html\n\n" + strings.Repeat("<blockquote type=cite>", 1<<18), "1 f:1 part\n"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, _, err := read(format, "From a 1:00\n"+c.mail, corpus.SourceConfig{})
		runtime.ReadMemStats(&after)
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], c.want) || len(got[0]) > 5<<20 {
			t.Errorf("%s: %.200q, %v", name, got, err)
		}
		if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 300 {
			t.Errorf("%s: allocated %d MiB", name, spent)
		}
	}
}

func FuzzMails(f *testing.F) {
	for mail := range strings.SplitSeq(mails(f), "\n\nFrom ") {
		f.Add("From " + strings.TrimPrefix(mail, "From "))
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, raws, err := read(format, text, corpus.SourceConfig{})
		if err != nil {
			if strings.HasPrefix(err.Error(), "not UTF-8") {
				t.Fatal(err)
			}
			return // it begins like another format
		}
		got, again, err := read(format, text, corpus.SourceConfig{BlockSize: 3})
		if err != nil || strings.Join(got, "") != strings.Join(want, "") || raws != again {
			t.Fatalf("%q in blocks of 3:\n%q\n%q\n%v", text, got, want, err)
		}
	})
}
