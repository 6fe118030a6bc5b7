package segments

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// A suiteCase is one paragraph of testdata/feature, whose README describes the format.
type suiteCase struct {
	relation string
	name     string
	texts    []string
}

func TestSuite(t *testing.T) {
	files, err := filepath.Glob("../../testdata/feature/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files in testdata/feature", err)
	}
	for _, file := range files {
		for _, c := range readSuite(t, file) {
			t.Run(filepath.Base(file)+"/"+c.name, func(t *testing.T) { runSuite(t, c) })
		}
	}
}

func readSuite(t *testing.T, file string) (cases []suiteCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	open := false
	for _, line := range strings.Split(string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			open = false
		case !open:
			relation, name, _ := strings.Cut(line, " ")
			cases = append(cases, suiteCase{relation: relation, name: cmp.Or(name, relation)})
			open = true
		default:
			c := &cases[len(cases)-1]
			c.texts = append(c.texts, line)
		}
	}
	return cases
}

func runSuite(t *testing.T, c suiteCase) {
	if len(c.texts) == 0 {
		t.Fatal("a case without texts")
	}
	switch c.relation {
	case "canonical", "segments":
		runForms(t, c)
	case "same", "order", "whole", "differ":
		runPairs(t, c)
	case "letters":
		runLetters(t, c)
	default:
		t.Fatalf("unknown relation %q", c.relation)
	}
}

// runForms checks lines of the form "text => form".
func runForms(t *testing.T, c suiteCase) {
	canontest.NeedUnicode(t)
	for _, line := range c.texts {
		text, want, ok := strings.Cut(line, " =>")
		if !ok {
			t.Fatalf("no arrow in %q", line)
		}
		text, want = unquote(t, text), unquote(t, strings.TrimPrefix(want, " "))
		got := canontest.Canonical(text)
		if c.relation == "segments" {
			got = strings.Join(pieces(t, text), " | ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// pieces returns the canonical forms of all distinct pieces of text, in order.
func pieces(t *testing.T, text string) (forms []string) {
	set := extract(t, Scheme{MinWidth: 1, Segments: MaxSegments}, text)
	slices.SortFunc(set.Features, func(a, b method.Feature) int { return cmp.Compare(a.Start, b.Start) })
	for _, f := range set.Features {
		forms = append(forms, canontest.Canonical(text[f.Start:f.End]))
	}
	return forms
}

// runPairs compares every two texts.
func runPairs(t *testing.T, c suiteCase) {
	var sets []method.Sketch
	for _, line := range c.texts {
		sets = append(sets, extract(t, Scheme{}, unquote(t, line)))
	}
	for i, a := range sets {
		for j, b := range sets[:i] {
			shared := share(a, b)
			equal := shared == len(a.Features) && shared == len(b.Features)
			var ok bool
			switch c.relation {
			case "same":
				ok = equal && a.Whole == b.Whole && a.Width == b.Width
			case "order":
				ok = equal && a.Whole != b.Whole && shared > 0
			case "whole":
				ok = a.Whole != b.Whole
			case "differ":
				ok = shared == 0 && a.Whole != b.Whole && len(a.Features) > 0 && len(b.Features) > 0
			}
			if !ok {
				t.Errorf("not %q (%d features shared):\n%s\n%s", c.relation, shared, describe(c.texts[j], b), describe(c.texts[i], a))
			}
		}
	}
}

// runLetters checks that all texts have the same letters, and that their fingerprints differ.
func runLetters(t *testing.T, c suiteCase) {
	s := canon.NewScanner()
	s.CountUnits()
	var first []byte
	whole := map[uint64]bool{}
	for i, line := range c.texts {
		text := unquote(t, line)
		var letters []byte
		for s.Reset([]byte(text)); s.Next() != canon.End; {
		}
		if letters = s.AppendLetters(letters); i == 0 {
			first = letters
		}
		if !bytes.Equal(letters, first) || len(letters) == 0 {
			t.Errorf("other letters:\n%s: %x\n%s: %x", c.texts[0], first, line, letters)
		}
		whole[extract(t, Scheme{}, text).Whole] = true
	}
	if len(whole) < len(c.texts) {
		t.Errorf("%d texts have %d fingerprints", len(c.texts), len(whole))
	}
}

// share counts the features that two sets have in common.
func share(a, b method.Sketch) (n int) {
	for _, f := range a.Features {
		if slices.ContainsFunc(b.Features, func(g method.Feature) bool { return f.Key == g.Key && f.Width == g.Width }) {
			n++
		}
	}
	return n
}

func describe(text string, s method.Sketch) string {
	return fmt.Sprintf("%s: %d features, width %d, whole %016x", text, len(s.Features), s.Width, s.Whole)
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	u, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return u
}
