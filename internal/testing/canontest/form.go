package canontest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// forms caches the results of Core. Without it the oracle takes minutes for a long text.
var forms = map[string]string{}

// Core applies all rules except those of white space until nothing changes.
func Core(s string) string {
	if core, ok := forms[s]; ok {
		return core
	}
	core := FixedPoint(s)
	if len(s) < 32 {
		forms[s] = core
	}
	return core
}

func FixedPoint(s string) string {
	drop := func(r rune) rune {
		switch {
		case Ignorable(r):
			return -1
		case r == '’' || r == 'ʼ':
			return '\''
		case unicode.Is(unicode.Cherokee, r): // see foldCherokee
			return unicode.ToUpper(r)
		}
		return r
	}
	for range 100 {
		next := strings.Map(drop, s)
		next = cases.Fold().String(norm.NFKC.String(next))
		next = strings.Map(drop, next)
		if next == s {
			return s
		}
		s = next
	}
	panic("no fixed point: " + s)
}

// Canonical returns the canonical form of s as one segment.
func Canonical(s string) string {
	return Spaced(Core(strings.ToValidUTF8(s, " ")))
}

// Spaced normalizes the white space of a form.
func Spaced(s string) string {
	var runes []place
	for _, r := range s {
		runes = append(runes, place{r: r})
	}
	return formString(orderSpaces(runes))
}

// A place is a rune of a canonical form with its byte range in the text.
type place struct {
	r          rune
	start, end int
}

func formString(form []place) string {
	var b strings.Builder
	for _, r := range form {
		b.WriteRune(r.r)
	}
	return b.String()
}

// clusters returns the core of text[start:end], cluster by cluster. Nothing combines across
// clusters, as the property tests of Canonical show.
func clusters(text string, start, end int) []place {
	var out []place
	from, to := start, start
	flush := func() {
		for _, r := range Core(text[from:to]) {
			out = append(out, place{r, from, to})
		}
	}
	closed := true
	for i, r := range text[start:end] {
		i += start
		if Ignorable(r) {
			continue
		}
		alone := isBlank(r) || strings.ContainsRune(".．,，'’＇", r)
		if closed || alone || Starts(r) {
			flush()
			from = i
		}
		to = i + utf8.RuneLen(r)
		closed = alone
	}
	flush()
	return out
}

// Starts reports whether neither r nor its form combines with the preceding character.
func Starts(r rune) bool {
	return norm.NFKC.PropertiesString(string(r)).BoundaryBefore() &&
		norm.NFKC.PropertiesString(Core(string(r))).BoundaryBefore()
}

func orderSpaces(in []place) []place {
	var out []place
	for i, r := range in {
		if !isBlank(r.r) {
			out = append(out, r)
			continue
		}
		rest := in[i:]
		for len(rest) > 0 && isBlank(rest[0].r) {
			rest = rest[1:]
		}
		base := len(out) - 1
		for base >= 0 && unicode.Is(unicode.M, out[base].r) {
			base--
		}
		switch {
		case len(out) == 0, len(rest) == 0, out[len(out)-1].r == ' ':
		case !unicode.Is(unicode.M, rest[0].r) && (base >= 0 && CJK(out[base].r) || CJK(rest[0].r)):
		default:
			out = append(out, place{' ', r.start, r.end})
		}
	}
	return out
}
