package html

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// TestWords checks that words come out one space apart, whatever white space or tags separate them.
func TestWords(t *testing.T) {
	pieces := rapid.SliceOf(rapid.SampledFrom([]string{
		" ", "  ", "\n", "\t", "\r\n", "\f", "\u00a0", "©", "é", "!", "\x01", "word", "longer words here", "ends. And goes on", "<b>", "</i>", "\xc2x",
	}))
	rapid.Check(t, func(t *rapid.T) {
		page := strings.Join(pieces.Draw(t, "page"), "")
		shown := strings.NewReplacer("<b>", "", "</i>", "").Replace(page)
		words := strings.FieldsFunc(shown, func(r rune) bool { return strings.ContainsRune(" \n\t\r\f\u00a0", r) })
		want := strings.Join(words, " ")
		if want != "" {
			want += "\n"
		}
		if got := text(Visible, page); got != want {
			t.Fatalf("%q\n got %q\nwant %q", page, got, want)
		}
	})
}

// TestReferences checks that character references are decoded as by x/net, also where a long text is
// decoded in pieces.
func TestReferences(t *testing.T) {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"&", "&#", "&#x", "&lt", "&lt;", "&gt;", "&amp;", "&quot;", "&copy", "&notin;", "&notit;", "&NotEqualTilde;", "&unknown;",
		"#", "x", "X", ";", "0", "9", "80", "39", "d800", "ffff", "10ffff", "a", "é",
	}), 1, -1)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(pieces.Draw(t, "text"), "")
		if rapid.Bool().Draw(t, "long") {
			s = strings.Repeat("x", longText-rapid.IntRange(0, 40).Draw(t, "before")) + s
		}
		if got, want := text(Visible, s), text(Visible, html.EscapeString(html.UnescapeString(s))); got != want {
			t.Fatalf("%q\n got %q\nwant %q", s, got, want)
		}
	})
}

// TestNames checks that all names are found, in either case, and near misses are not.
func TestNames(t *testing.T) {
	of := func(name string) tag {
		s := scanner{page: []byte(name + ">")}
		return tagOf[string(s.lower.of(s.name(0)))]
	}
	for name, want := range tagOf {
		upper := strings.ToUpper(name)
		for _, near := range []string{name + "x", "\x00" + name, name + "\x00", name + "\u0130", "k" + name} {
			if _, known := tagOf[near]; !known && of(near) != inline {
				t.Errorf("%q is taken for %d", near, of(near))
			}
		}
		if of(name) != want || of(upper) != want {
			t.Errorf("%s: %d, %d, want %d", name, of(name), of(upper), want)
		}
	}
}
