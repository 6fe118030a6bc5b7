package text_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	plain "github.com/firstseen/firstseen/corpus/text"
)

// TestEndOfText compares with a split at marks, in blocks of any size, and reads its output again.
func TestEndOfText(t *testing.T) {
	f := plain.Formats["endoftext"]
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"\n", "\r\n", " ", "a", "字", "<|", "|>", "<|endoftext", "<|endoftext|>"}), 0, 12).Draw(t, "text"), "")
		var want, again, raws []string // an empty text yields no record, but counts
		for i, part := range strings.Split(text, "<|endoftext|>") {
			part = strings.Trim(part, "\r\n")
			if strings.TrimSpace(part) != "" {
				raws = append(raws, part)
				want = append(want, fmt.Sprintf("f:%d %q", i+1, part))
				again = append(again, fmt.Sprintf("f:%d %q", len(raws), part))
			}
		}
		for _, size := range []int{1, 2, 13, 1 << 20} {
			check(t, f, text, size, want)
		}
		dir, err := os.MkdirTemp("", "endoftext")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "out.txt")
		w, err := output.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range raws {
			if err := f.Keep(w, []byte(raw)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		check(t, f, string(written), 7, again)
	})
}

func check(t *rapid.T, f corpus.Format, text string, size int, want []string) {
	got, err := read(f, text, corpus.SourceConfig{BlockSize: size})
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%q in blocks of %d:\n%s\nwant\n%s\n%v", text, size, strings.Join(got, "\n"), strings.Join(want, "\n"), err)
	}
}

// TestEndOfLongText checks that a mark in two pieces also ends a text beyond the limit.
func TestEndOfLongText(t *testing.T) {
	for length := 1100; length < 1140; length++ { // longer than the bytes that identify a format
		for size := 1; size < 20; size++ {
			text := strings.Repeat("a", length) + "<|endoftext|>b<|endoftext|>"
			got, err := read(plain.Formats["endoftext"], text, corpus.SourceConfig{BlockSize: size, MaxRecord: 32})
			if err != nil || len(got) != 2 || got[1] != `f:2 "b"` {
				t.Fatalf("%d bytes in blocks of %d: %q, %v", length, size, got, err)
			}
		}
	}
}
