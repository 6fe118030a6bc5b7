package feature

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dchest/siphash"
	"github.com/minio/highwayhash"
	"github.com/zeebo/xxh3"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// The oracle says what docs/canonical.md says, in the plainest way there is:
// strings, lists of runes, the Unicode tables, a sort. It shares nothing with
// the Extractor but the numbers in the rules (maxRun, maxWidth, minPiece,
// maxPiece, maxSymbol, wholeSeed, the gear table).

// oracle is what the Extractor of the scheme should make of text.
func oracle(s Scheme, text string) Set {
	s = s.filled()
	var all []Feature
	var whole []string
	var set Set
	for _, p := range oraclePieces(text) {
		if p.symbol {
			if form := oracleCanonical(text[p.start:p.end]); form != "" {
				whole = append(whole, form)
			}
			continue
		}
		form := oracleSpaced(oracleClusters(text, p.start, p.end))
		if len(form) == 0 {
			continue
		}
		whole = append(whole, formString(form))
		for _, c := range oracleCuts(form) {
			w := oracleWidth(formString(c))
			if w < s.MinWidth {
				set.Width += uint64(w)
				set.Units += uint64(oracleUnits(formString(c)))
				continue
			}
			all = append(all, Feature{
				Key: oracleKey(s, formString(c)), Order: xxh3.HashString(formString(c)), Width: uint32(w), Units: uint32(oracleUnits(formString(c))),
				Start: uint32(c[0].start), End: uint32(c[len(c)-1].end),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Feature) int {
		if a.Width != b.Width {
			return int(b.Width) - int(a.Width)
		}
		if a.Order != b.Order {
			return map[bool]int{true: -1, false: 1}[a.Order < b.Order]
		}
		return 0
	})
	for _, f := range all {
		n := len(set.Features)
		switch {
		case n > 0 && set.Features[n-1].Key == f.Key && set.Features[n-1].Width == f.Width:
		case n == s.Segments:
			set.Truncated = true
		default:
			set.Features = append(set.Features, f)
			set.Width += uint64(f.Width)
			set.Units += uint64(f.Units)
		}
	}
	set.Whole = oracleWhole(s, strings.Join(whole, " "))
	return set
}

type oraclePiece struct {
	start, end int
	symbol     bool
}

// oraclePieces splits text at separators.
func oraclePieces(text string) []oraclePiece {
	var pieces []oraclePiece
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
	mark := func(r rune) bool { return unicode.Is(unicode.M, r) || oracleIgnorable(r) }
	lead := func(r rune) bool { return mark(r) || unicode.In(r, unicode.Zs) || r == '\t' }
	start := past(0, lead)
	i := start
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case oracleSeparates(text, start, i, r, size):
			pieces = append(pieces, oraclePiece{start, i, false})
			start = past(i+size, lead)
			if unicode.Is(unicode.S, r) && r != utf8.RuneError {
				end := min(past(i+size, mark), i+maxSymbol)
				for !utf8.ValidString(text[i:end]) {
					end--
				}
				pieces = append(pieces, oraclePiece{i, end, true})
			}
			i = start
			continue
		case i-start >= maxRun:
			pieces = append(pieces, oraclePiece{start, i, false})
			start = i
		}
		i += size
	}
	return append(pieces, oraclePiece{start, len(text), false})
}

func oracleSeparates(text string, start, i int, r rune, size int) bool {
	visible := func(s string) []rune {
		var out []rune
		for _, r := range s {
			if !oracleIgnorable(r) {
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
		if !oracleIgnorable(p) {
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
	case '\t':
		return false
	case '.', '．':
		after := visible(text[i+size:])
		return !unicode.Is(unicode.Nd, before) || digits(after) == 0
	case ',', '，':
		after := visible(text[i+size:])
		return !unicode.Is(unicode.Nd, before) || digits(after) != 3
	case '\'', '’', '＇':
		after := append(visible(text[i+size:]), '\n')[0]
		left := unicode.In(before, unicode.L, unicode.M) && !oracleCJK(before)
		return !left || !unicode.IsLetter(after) || oracleCJK(after)
	}
	return unicode.In(r, unicode.P, unicode.S, unicode.Cc)
}

func oracleIgnorable(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return true
	}
	excepted := unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		0xFFF9 <= r && r <= 0xFFFB || 0x13430 <= r && r <= 0x13440
	return unicode.Is(unicode.Cf, r) && !excepted
}

func oracleCJK(r rune) bool {
	return oracleWidth(string(r)) == 2 && unicode.In(r, unicode.L, unicode.N) && !unicode.Is(unicode.Hangul, r)
}

// oracleUnits counts CJK characters and the stretches of others, between them
// and spaces, that have any width.
func oracleUnits(s string) (n int) {
	between := func(r rune) bool { return r == ' ' || oracleCJK(r) }
	for _, r := range s {
		if oracleCJK(r) {
			n++
		}
	}
	for _, stretch := range strings.FieldsFunc(s, between) {
		if oracleWidth(stretch) > 0 {
			n++
		}
	}
	return n
}

func oracleWidth(s string) (n int) {
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

// cores remembers what oracleCore found, or the oracle would take minutes for a
// long text.
var cores = map[string]string{}

// oracleCore applies all rules but those of white space until nothing changes.
func oracleCore(s string) string {
	if core, ok := cores[s]; ok {
		return core
	}
	core := oracleFixedPoint(s)
	if len(s) < 32 {
		cores[s] = core
	}
	return core
}

func oracleFixedPoint(s string) string {
	drop := func(r rune) rune {
		switch {
		case oracleIgnorable(r):
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

// oracleCanonical is Canonical.
func oracleCanonical(s string) string {
	return oracleSpacedString(oracleCore(strings.ToValidUTF8(s, " ")))
}

// oracleSpacedString is oracleSpaced for a form whose bytes do not matter.
func oracleSpacedString(s string) string {
	var runes []oracleRune
	for _, r := range s {
		runes = append(runes, oracleRune{r: r})
	}
	return formString(oracleSpaced(runes))
}

// An oracleRune is a rune of a canonical form with the bytes it comes from.
type oracleRune struct {
	r          rune
	start, end int
}

func formString(form []oracleRune) string {
	var b strings.Builder
	for _, r := range form {
		b.WriteRune(r.r)
	}
	return b.String()
}

// oracleClusters is the core of text[start:end], cluster by cluster. Nothing
// combines across clusters, as the property tests of oracleCanonical show.
func oracleClusters(text string, start, end int) []oracleRune {
	var out []oracleRune
	from, to := start, start
	flush := func() {
		for _, r := range oracleCore(text[from:to]) {
			out = append(out, oracleRune{r, from, to})
		}
	}
	closed := true
	for i, r := range text[start:end] {
		i += start
		if oracleIgnorable(r) {
			continue
		}
		alone := unicode.IsSpace(r) || strings.ContainsRune(".．,，'’＇", r)
		if closed || alone || oracleStarts(r) {
			flush()
			from = i
		}
		to = i + utf8.RuneLen(r)
		closed = alone
	}
	flush()
	return out
}

// oracleStarts reports whether r neither combines with what is before it nor
// has a form that does.
func oracleStarts(r rune) bool {
	return norm.NFKC.PropertiesString(string(r)).BoundaryBefore() &&
		norm.NFKC.PropertiesString(oracleCore(string(r))).BoundaryBefore()
}

// oracleSpaced puts white space in order.
func oracleSpaced(in []oracleRune) []oracleRune {
	var out []oracleRune
	for i, r := range in {
		if !unicode.IsSpace(r.r) {
			out = append(out, r)
			continue
		}
		rest := in[i:]
		for len(rest) > 0 && unicode.IsSpace(rest[0].r) {
			rest = rest[1:]
		}
		base := len(out) - 1
		for base >= 0 && unicode.Is(unicode.M, out[base].r) {
			base--
		}
		switch {
		case len(out) == 0, len(rest) == 0, out[len(out)-1].r == ' ':
		case !unicode.Is(unicode.M, rest[0].r) && (base >= 0 && oracleCJK(out[base].r) || oracleCJK(rest[0].r)):
		default:
			out = append(out, oracleRune{' ', r.start, r.end})
		}
	}
	return out
}

// oracleCuts cuts an overlong form, and trims the pieces.
func oracleCuts(form []oracleRune) [][]oracleRune {
	if oracleWidth(formString(form)) <= maxWidth {
		return [][]oracleRune{form}
	}
	var pieces [][]oracleRune
	var h uint64
	from, columns := 0, 0
	for i, r := range form {
		for _, b := range []byte(string(r.r)) {
			h = h<<1 + gear[b]
		}
		w := oracleWidth(string(r.r))
		columns += w
		if columns >= minPiece && (h>>58 < uint64(w) || columns >= maxPiece) || i == len(form)-1 {
			pieces = append(pieces, form[from:i+1])
			from, columns = i+1, 0
		}
	}
	var out [][]oracleRune
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

func oracleKey(s Scheme, form string) uint64 {
	if s.Key == nil {
		return xxh3.HashString(form)
	}
	h := siphash.New(s.Key)
	h.Write([]byte(form))
	return h.Sum64()
}

func oracleWhole(s Scheme, form string) uint64 {
	if s.Key == nil {
		return xxh3.HashStringSeed(form, wholeSeed)
	}
	var key []byte
	for i := range 4 {
		key = binary.LittleEndian.AppendUint64(key, oracleKey(s, "\xffwhole text"+string(rune(i))))
	}
	return highwayhash.Sum64([]byte(form), key)
}
