package fold

import (
	"encoding/binary"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"
)

var update = flag.Bool("update", false, "write fold.bin anew: only with rules of another version")

// TestTableIsFrozen fails if the table changes without a new version of the rules.
func TestTableIsFrozen(t *testing.T) {
	if got, want := xxh3.HashString(packed), uint64(0xbe59eb54861970c); got != want {
		t.Errorf("the table has the digest %#x, want %#x", got, want)
	}
}

// TestTableIsGenerated fails if fold.bin differs from the generated table.
func TestTableIsGenerated(t *testing.T) {
	var want []byte
	last := rune(0)
	han := hanPairs(t)
	for r := rune(0); r <= utf8.MaxRune; r++ {
		to := marks(r)
		if h, ok := han[r]; ok {
			to = h
		}
		if to != r {
			want = binary.AppendUvarint(want, uint64(r-last))
			want = binary.AppendUvarint(want, uint64(to))
			last = r
		}
	}
	if *update {
		if err := os.WriteFile("fold.bin", want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if string(want) != packed {
		t.Errorf("fold.bin has %d bytes that are not the %d generated", len(packed), len(want))
	}
}

// hanPairs returns what Chinese characters fold to. A class is named by its simplified character, or by
// a traditional one of the basic plane if that one is beyond it.
func hanPairs(t *testing.T) map[rune]rune {
	t.Helper()
	to := simplified(t)
	within := map[rune]rune{} // the least traditional character of the basic plane, by the simplified one
	for from, s := range to {
		if w, ok := within[s]; s > 0xFFFF && from <= 0xFFFF && (!ok || from < w) {
			within[s] = from
		}
	}
	pairs := map[rune]rune{}
	for from, s := range to {
		if w, ok := within[s]; ok {
			pairs[s], s = w, w
		}
		if s != from {
			pairs[from] = s
		}
	}
	return pairs
}

// simplified reads the pairs of OpenCC, and follows them to characters that no pair leads from.
func simplified(t *testing.T) map[rune]rune {
	t.Helper()
	data, err := os.ReadFile("testdata/TSCharacters.txt")
	if err != nil {
		t.Fatal(err)
	}
	to := map[rune]rune{'著': '着'}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		from := []rune(f[0])[0]
		for _, s := range f[1:] {
			if s != f[0] {
				to[from] = []rune(s)[0]
				break
			}
		}
	}
	for from, s := range to {
		for next, ok := to[s]; ok; next, ok = to[s] {
			if s = next; s == from {
				t.Fatalf("%c leads to itself", from)
			}
		}
		to[from] = s
	}
	return to
}

// plainly has letters whose mark is no part that Unicode takes off.
var plainly = map[rune]rune{'ı': 'i', 'đ': 'd', 'Đ': 'D', 'ł': 'l', 'Ł': 'L', 'ø': 'o', 'Ø': 'O', 'ħ': 'h', 'Ħ': 'H', 'ŧ': 't', 'Ŧ': 'T', 'ё': 'е', 'Ё': 'Е', 'ـ': 0}

// marks returns what a rune outside of Chinese folds to, by Unicode's decomposition.
func marks(r rune) rune {
	if to, ok := plainly[r]; ok {
		return to
	}
	if isMark(r) {
		return 0
	}
	parts := []rune(norm.NFD.String(string(r)))
	base := parts[0]
	if to, ok := plainly[base]; ok {
		base = to
	}
	if len(parts) < 2 || !unicode.IsLetter(base) || !unicode.In(base, unicode.Latin, unicode.Greek, unicode.Arabic, unicode.Hebrew) {
		return r
	}
	for _, p := range parts[1:] {
		if !isMark(p) {
			return r
		}
	}
	return base
}

// isMark reports whether readers leave out a mark: the blocks of combining accents, Arabic, Hebrew.
func isMark(r rune) bool {
	accents := 0x0300 <= r && r <= 0x036F || 0x1AB0 <= r && r <= 0x1AFF || 0x1DC0 <= r && r <= 0x1DFF || 0x20D0 <= r && r <= 0x20FF || 0xFE20 <= r && r <= 0xFE2F
	semitic := 0x0590 <= r && r <= 0x06FF || 0x0870 <= r && r <= 0x08FF
	return (accents || semitic) && unicode.In(r, unicode.Mn, unicode.Me)
}

// TestIdempotent folds each rune twice.
func TestIdempotent(t *testing.T) {
	for r := rune(-1); r <= utf8.MaxRune+1; r++ {
		if once := Rune(r); Rune(once) != once {
			t.Errorf("%U folds to %U, that to %U", r, once, Rune(once))
		}
	}
}

// TestWords has words that fold to one, and such that stay apart.
func TestWords(t *testing.T) {
	for _, c := range [][2]string{
		{"頭髮發後來裏裡臺灣著名瞭解藉口", "头发发后来里里台湾着名了解借口"},
		{"㑮", "𫝈"},
		{"tiếng việt đường łódź ırmak søster naïve", "tieng viet duong lodz irmak soster naive"},
		{"άνθρωπος ΐ", "ανθρωπος ι"},
		{"مُحَمَّدٌ أحمد قـــال", "محمد احمد قال"},
		{"שָׁלוֹם", "שלום"},
		{"ёлка", "елка"},
		{"i̇stanbul 1⃣", "istanbul 1"},
	} {
		if all(c[0]) != all(c[1]) {
			t.Errorf("%q folds to %q, %q to %q", c[0], all(c[0]), c[1], all(c[1]))
		}
	}
	for _, same := range []string{"हिन्दी", "ภาษาไทย", "ガパ", "か゛", "мой", "한국어", "hello 123", "中文"} {
		if all(same) != same {
			t.Errorf("%q folds to %q", same, all(same))
		}
	}
}

func all(s string) string {
	return strings.Map(func(r rune) rune {
		if r = Rune(r); r == 0 {
			return -1
		}
		return r
	}, s)
}

// TestChineseIsFolded checks each pair of OpenCC: both characters fold to one.
func TestChineseIsFolded(t *testing.T) {
	n := 0
	for from, to := range simplified(t) {
		if Rune(from) != Rune(to) {
			t.Errorf("%c folds to %c, %c to %c", from, Rune(from), to, Rune(to))
		}
		n++
	}
	if n < 4000 {
		t.Errorf("%d pairs", n)
	}
}

// TestScriptsStay checks that a letter folds within its script, and no digit folds.
func TestScriptsStay(t *testing.T) {
	for r := rune(1); r <= utf8.MaxRune; r++ {
		to := Rune(r)
		if to == r || to == 0 {
			continue
		}
		for name, script := range unicode.Scripts {
			if unicode.Is(script, r) != unicode.Is(script, to) {
				t.Errorf("%U of %s folds to %U", r, name, to)
			}
		}
		if !unicode.IsLetter(r) || !unicode.IsLetter(to) || unicode.IsLower(r) != unicode.IsLower(to) {
			t.Errorf("%U folds to %U", r, to)
		}
	}
}

func BenchmarkRune(b *testing.B) {
	text := []rune(strings.Repeat("一個繁體字 tiếng việt and some words", 100))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		sum := rune(0)
		for _, r := range text {
			sum += Rune(r)
		}
		sink = sum
	}
}

var sink rune
