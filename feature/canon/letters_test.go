package canon

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon/fold"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// oracleLetters returns the letters of a canonical form by docs/canonical.md, section 7.
func oracleLetters(form string) (letters []byte) {
	for _, r := range form {
		switch r = fold.Rune(r); {
		case r == 0:
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			letters = append(letters, byte(r))
		case r < utf8.RuneSelf:
		default:
			code := binary.LittleEndian.AppendUint32(nil, uint32(uint64(r)*0x9E3779B1%(1<<32)))
			if canontest.Width(string(r)) == 2 {
				letters = append(letters, code[1], code[2], code[3])
			} else {
				letters = append(letters, code[3])
			}
		}
	}
	return letters
}

// lettersOf returns a text's letters from the scanner, asked at every n-th piece.
func lettersOf(s *Scanner, text string, n int) (letters []byte) {
	i := 0
	for s.Reset([]byte(text)); ; {
		step := s.Next()
		if i++; step != Piece || i%n == 0 {
			letters = s.AppendLetters(letters)
			s.ForgetSegments()
		}
		if step == End {
			return letters
		}
	}
}

func checkLetters(t interface{ Fatalf(string, ...any) }, s *Scanner, text string, n int) {
	var want []byte
	pieces, _, _ := canontest.Read(text)
	for _, p := range pieces {
		want = append(want, oracleLetters(p.Form)...)
	}
	if got := lettersOf(s, text, n); !bytes.Equal(got, want) {
		t.Fatalf("%q, %d together:\ngot  %x\nwant %x", text, n, got, want)
	}
}

// countingScanners returns a scanner that copies many bytes at a time, and one that does not.
func countingScanners() []*Scanner {
	scanners := []*Scanner{NewScanner(), plainScanner()}
	for _, s := range scanners {
		s.CountUnits()
	}
	return scanners
}

func TestLettersEqualOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	scanners := countingScanners()
	texts := rapid.OneOf(canontest.Text(), together())
	rapid.Check(t, func(t *rapid.T) {
		text, n := texts.Draw(t, "text"), rapid.IntRange(1, 90).Draw(t, "together")
		for _, s := range scanners {
			checkLetters(t, s, text, n)
		}
	})
}

func FuzzLettersEqualOracle(f *testing.F) {
	canontest.NeedUnicode(f)
	scanners := countingScanners()
	for i, s := range canontest.Fragments {
		f.Add(s+canontest.Fragments[(i*7+3)%len(canontest.Fragments)]+s, uint8(i))
	}
	f.Add("thirty-two bytes of ASCII and more, 然后 é 漢字, then thirty-two bytes of ASCII again", uint8(3))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		if len(text) > 4096 {
			return
		}
		for _, s := range scanners {
			checkLetters(t, s, strings.Repeat(text, 1+int(n)%8), 1+int(n))
		}
	})
}

// TestLettersOfEveryRune checks every character alone, and among letters that are read many at a time.
// Of numbers without a character it checks one in seven.
func TestLettersOfEveryRune(t *testing.T) {
	canontest.NeedUnicode(t)
	s := countingScanners()[0]
	step := rune(1)
	if testing.Short() {
		step = 7
	}
	for r := rune(0); r <= utf8.MaxRune; r += step {
		if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Co, unicode.Cc, unicode.Cf) || r%7 == 0 && utf8.ValidRune(r) {
			checkLetters(t, s, string(r)+" 的"+string(r)+"的"+string(r)+" and words of more than sixteen bytes", 1)
		}
		if r > 0x3FFFF { // private, or without a form
			r += 0xFFF
		}
	}
}

// TestLettersFrozen checks values that another program computed from the description. They may never
// change, since stored sketches depend on them.
func TestLettersFrozen(t *testing.T) {
	s := countingScanners()[0]
	for text, want := range map[string]string{
		"It's 3.14, été": "697473333134657465",
		"漢语":             "5f2885c36e98",
		"ж と 한":          "3d9f5aad003004",
	} {
		if got := hex.EncodeToString(lettersOf(s, text, 1)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestLettersAreFolded checks texts that writers spell in two ways, and others that are not alike.
func TestLettersAreFolded(t *testing.T) {
	s := countingScanners()[0]
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"漢語與詞彙", "汉语与词汇", true},
		{"L'élève Straße", "l eleve STRASSE", true},
		{"ё Ё", "е е", true},
		{"مُحَمَّد", "محمد", true},
		{"no tes", "notes", true},
		{"й", "и", false},
		{"か", "が", false},
		{"ก้า", "กา", false},
		{"42", "24", false},
	} {
		a, b := lettersOf(s, c.a, 1), lettersOf(s, c.b, 1)
		if bytes.Equal(a, b) != c.want {
			t.Errorf("%s is %x, %s is %x", c.a, a, c.b, b)
		}
	}
}
