// Package canontest implements docs/canonical.md in the simplest way: with strings, slices of
// runes, and the toolchain's Unicode tables. It shares no code or constants with package canon.
// Tests compare canon, and the methods based on it, with this package on random texts.
package canontest

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// The numbers in the rules.
const (
	maxRun    = 64 << 10
	maxSymbol = 64
	maxWidth  = 400
	minPiece  = 64
	maxPiece  = 256

	linesBefore = 8
	minLine     = 30
	maxLine     = 255
)

// NeedUnicode skips a test if the toolchain's Unicode differs from that of the rules.
func NeedUnicode(t testing.TB) {
	t.Helper()
	if unicode.Version != "15.0.0" || norm.Version != "15.0.0" {
		t.Skipf("the oracle has Unicode %s, the rules are of 15.0.0", unicode.Version)
	}
}

// A Piece is an expected piece of a text.
type Piece struct {
	Form         string
	Width, Units int
	Start, End   int // byte range without surrounding white space
}

// Read returns the pieces of text, its whole canonical text, and the text for the whole-text
// fingerprint. The last has no space before a piece next to CJK.
func Read(text string) (pieces []Piece, whole, tight string) {
	text = withoutSoftEnds(text)
	var words []string
	var all []byte
	for _, p := range split(text) {
		if p.symbol {
			if form := Canonical(text[p.start:p.end]); form != "" {
				words = append(words, form)
				all = append(append(all, ' '), form...)
			}
			continue
		}
		form := orderSpaces(clusters(text, p.start, p.end))
		if len(form) == 0 {
			continue
		}
		if !joins(all, form[0].r) {
			all = append(all, ' ')
		}
		all = append(all, formString(form)...)
		words = append(words, formString(form))
		for _, c := range cuts(form) {
			s := formString(c)
			pieces = append(pieces, Piece{s, Width(s), Units(s), c[0].start, c[len(c)-1].end})
		}
	}
	return pieces, strings.Join(words, " "), strings.TrimPrefix(string(all), " ")
}

// joins reports whether there is no space between a text and the following rune.
func joins(before []byte, r rune) bool {
	last, _ := utf8.DecodeLastRune(bytes.TrimRightFunc(before, unicode.IsMark))
	return !unicode.Is(unicode.M, r) && (CJK(last) || CJK(r))
}

// withoutSoftEnds replaces soft line ends with spaces.
func withoutSoftEnds(text string) string {
	lines := strings.Split(text, "\n")
	before := slices.Clone(lines)
	var widths []int
	columns := func(line string) (n int) {
		if len(line) > 3*maxLine {
			return maxLine + 1
		}
		for _, b := range []byte(line) {
			switch {
			case b >= 0xE3:
				n += 2
			case b < 0x80 || b >= 0xC0:
				n++
			}
		}
		return n
	}
	for _, line := range lines {
		widths = append(widths, min(columns(line), maxLine+1))
	}
	isFull := func(i int) bool {
		first := i
		for first > 0 && i-first < linesBefore && strings.TrimSuffix(before[first-1], "\r") != "" {
			first--
		}
		longest := slices.Max(widths[first : i+2])
		return minLine <= min(widths[i], len(before[i])) && widths[i] <= maxLine && 3*widths[i] >= 2*longest
	}
	for i := range lines[1:] {
		switch line, crlf := strings.CutSuffix(lines[i], "\r"); {
		case !isFull(i):
			lines[i] += "\n"
		case crlf:
			lines[i] = line + "  "
		default:
			lines[i] += " "
		}
	}
	return strings.Join(lines, "")
}

type stretch struct {
	start, end int
	symbol     bool
}

func split(text string) []stretch {
	var pieces []stretch
	past := func(i int, what func(rune) bool) int {
		for i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !what(r) {
				break
			}
			i += size
		}
		return i
	}
	mark := func(r rune) bool { return unicode.Is(unicode.M, r) || Ignorable(r) }
	lead := func(r rune) bool { return mark(r) || unicode.In(r, unicode.Zs) || r == '\t' || isTsheg(r) }
	start := past(0, lead)
	i := start
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case separates(text, start, i, r, size):
			pieces = append(pieces, stretch{start, i, false})
			start = past(i+size, lead)
			if unicode.Is(unicode.S, r) && r != utf8.RuneError {
				end := min(past(i+size, mark), i+maxSymbol)
				for !utf8.ValidString(text[i:end]) {
					end--
				}
				pieces = append(pieces, stretch{i, end, true})
			}
			i = start
			continue
		case i-start >= maxRun:
			pieces = append(pieces, stretch{start, i, false})
			start = i
		}
		i += size
	}
	return append(pieces, stretch{start, len(text), false})
}

func separates(text string, start, i int, r rune, size int) bool {
	visible := func(s string) []rune {
		var out []rune
		for _, r := range s {
			if !Ignorable(r) {
				out = append(out, r)
			}
			if len(out) == 8 {
				break
			}
		}
		return out
	}
	digits := func(rs []rune) (n int) {
		for n < len(rs) && unicode.Is(unicode.Nd, rs[n]) {
			n++
		}
		return n
	}
	var before rune = '\n'
	for j := i; j > 0; {
		p, n := utf8.DecodeLastRuneInString(text[:j])
		if !Ignorable(p) {
			before = p
			break
		}
		j -= n
	}
	if i == start && strings.ContainsRune(".．,，'’＇", r) {
		return true // nothing joins at the start of a segment
	}
	switch r {
	case utf8.RuneError, '\u2028', '\u2029':
		return true
	case '\t', '\u0F0B', '\u0F0C':
		return false
	case '.', '．':
		after := visible(text[i+size:])
		return !unicode.Is(unicode.Nd, before) || digits(after) == 0
	case ',', '，':
		after := visible(text[i+size:])
		return !unicode.Is(unicode.Nd, before) || digits(after) != 3
	case '\'', '’', '＇':
		after := append(visible(text[i+size:]), '\n')[0]
		left := unicode.In(before, unicode.L, unicode.M) && !CJK(before)
		return !left || !unicode.IsLetter(after) || CJK(after)
	}
	return unicode.In(r, unicode.P, unicode.S, unicode.Cc)
}

func Ignorable(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return true
	}
	excepted := unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		0xFFF9 <= r && r <= 0xFFFB || 0x13430 <= r && r <= 0x13440
	return unicode.Is(unicode.Cf, r) && !excepted
}

func CJK(r rune) bool {
	if unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) {
		return unicode.IsLetter(r)
	}
	return Width(string(r)) == 2 && unicode.In(r, unicode.L, unicode.N) && !unicode.Is(unicode.Hangul, r)
}

// isTsheg reports whether r is a dot between the syllables of Tibetan.
func isTsheg(r rune) bool { return r == '\u0F0B' || r == '\u0F0C' }

func isBlank(r rune) bool { return unicode.IsSpace(r) || isTsheg(r) }

// Units counts CJK characters, with marks, and stretches of others, up to spaces, with any width.
func Units(s string) (n int) {
	var others strings.Builder
	after := false
	for _, r := range s {
		switch {
		case CJK(r):
			n++
			others.WriteByte(' ')
			after = true
		case !after || !unicode.Is(unicode.M, r):
			others.WriteRune(r)
			after = false
		}
	}
	for _, stretch := range strings.Fields(others.String()) {
		if Width(stretch) > 0 {
			n++
		}
	}
	return n
}

func Width(s string) (n int) {
	for _, r := range s {
		kind := width.LookupRune(r).Kind()
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

func cuts(form []place) [][]place {
	if Width(formString(form)) <= maxWidth {
		return [][]place{form}
	}
	var pieces [][]place
	var h uint64
	from, columns := 0, 0
	for i, r := range form {
		for _, b := range []byte(string(r.r)) {
			h = h<<1 + gear[b]
		}
		w := Width(string(r.r))
		columns += w
		if columns >= minPiece && (h>>58 < uint64(w) || columns >= maxPiece) || i == len(form)-1 {
			pieces = append(pieces, form[from:i+1])
			from, columns = i+1, 0
		}
	}
	var out [][]place
	for _, p := range pieces {
		if p[0].r == ' ' {
			p = p[1:]
		}
		if n := len(p); n > 0 && p[n-1].r == ' ' {
			p = p[:n-1]
		}
		if len(p) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// Assigned reports whether r is assigned in the toolchain's Unicode.
func Assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co)
}

// gear holds the random numbers of the boundary hash: SplitMix64 from the ASCII of "boundary".
var gear = func() (g [256]uint64) {
	for i := range g {
		z := uint64(0x626F756E64617279) + uint64(i+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		g[i] = z ^ z>>31
	}
	return g
}()
