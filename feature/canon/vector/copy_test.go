package vector

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// classes holds the classes of docs/canonical.md, all in ASCII and some elsewhere.
var classes = func() *Classes {
	c := new(Classes)
	for b := range c.Class {
		switch {
		case 'a' <= b|0x20 && b|0x20 <= 'z':
			c.Class[b] = Letter
		case '0' <= b && b <= '9':
			c.Class[b] = Digit
		case b == ' ' || b == '\t':
			c.Class[b] = Blank
		case strings.IndexByte("$+<=>^`|~", byte(b)) >= 0:
			c.Class[b] = Symbol
		}
	}
	c.Class['.'] = Dot
	c.Class[','] = Comma
	c.Class['\''] = Quote
	for r, class := range map[rune]uint8{'—': Separator, '“': Separator, '”': Separator, '’': Quote, '\u2003': Blank} {
		c.General[r-0x2000] = class
	}
	for r, class := range map[rune]uint8{'。': Separator, '、': Separator, '\u3000': Blank} {
		c.CJK[r-0x3000] = class
	}
	for r, class := range map[rune]uint8{'！': Separator, '，': Comma, '．': Dot} {
		c.Full[r-0xFF00] = class
	}
	return c
}()

// han and other are classes of this test; 0 is an ASCII separator.
const (
	han   = 0xFF
	other = 0xFE
)

func classOf(r rune, size int) uint8 {
	class := uint8(other)
	switch {
	case size == 0:
		return 0
	case r < 0x80:
		return classes.Class[r]
	case 0x4E00 <= r && r <= 0x9FFF:
		return han
	case 0x2000 <= r && r < 0x2040:
		class = classes.General[r-0x2000]
	case 0x3000 <= r && r < 0x3040:
		class = classes.CJK[r-0x3000]
	case 0xFF00 <= r && r < 0xFF40:
		class = classes.Full[r-0xFF00]
	}
	if class == 0 {
		class = other
	}
	return class
}

func before(text string, i int) uint8 { return classOf(utf8.DecodeLastRuneInString(text[:i])) }
func after(text string, i int) uint8  { return classOf(utf8.DecodeRuneInString(text[i:])) }

// mayStop reports whether Copy may stop before text[i], and whether it must.
func mayStop(text string, i int) (may, must bool) {
	r, size := utf8.DecodeRuneInString(text[i:])
	class, last, next := classOf(r, size), before(text, i), after(text, i+size)
	switch class {
	case other:
		return true, true
	case Symbol, Dot, Comma, Quote:
		must = next == other && (r < 0x80 || last == Letter && class == Quote || last == Digit && class != Quote)
		must = must || (class == Comma || r >= 0x80 && class == Dot) && last == Digit && next == Digit
		return must || next == han || r < 0x80 && next == Separator || size > 0 && text[i+size:] != "" && text[i+size] >= 0x80, must
	case Blank:
		return true, false
	}
	return false, false
}

// copied returns the expected copy of text[:end], made character by character.
func copied(text string, end int) (out string, starts []Start, c Copied) {
	c.Separated = true
	blanks := false // only blanks since the last word
	for i := 0; i < end; {
		r, size := utf8.DecodeRuneInString(text[i:])
		class, last, next := classOf(r, size), before(text, i), after(text, i+size)
		form := string(r)
		switch {
		case class == Letter:
			form = strings.ToLower(form)
		case class == Quote && last == Letter && next == Letter:
			form, class = "'", Letter
		case class == Dot && last == Digit && next == Digit && r == '.':
			class = Letter
		}
		switch class {
		case Letter, Digit, han, Symbol:
			if blanks && !c.Separated && class == han {
				out = strings.TrimSuffix(out, " ")
			}
			if l, _ := utf8.DecodeLastRuneInString(out); out != "" && l != ' ' && (class == Symbol || classOf(l, 1) == Symbol) {
				out += " "
			}
			if class == Symbol || c.Separated {
				starts = append(starts, Start{uint32(len(out)), uint32(i), uint32(c.Han)})
			}
			out += form
			c.Separated, blanks = class == Symbol, false
			if class == han {
				c.Han++
			}
		default:
			l, _ := utf8.DecodeLastRuneInString(out)
			if out != "" && l != ' ' && !(class == Blank && classOf(l, 1) == han) {
				out += " "
			}
			blanks = class == Blank
			c.Separated = c.Separated || class != Blank
		}
		i += size
	}
	c.Read, c.Written, c.Starts = end, len(out), len(starts)
	return out, starts, c
}

func needCopy(t testing.TB) {
	if !CanCopy {
		t.Skip("the processor has no instructions for it")
	}
}

// TestCopy compares with copied, on texts shorter and longer than blocks.
func TestCopy(t *testing.T) {
	needCopy(t)
	part := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,12} |[a-z]{1,6}[,.;] |[0-9]{1,3}`),
		rapid.StringMatching(`[a-z0-9 .,'=+_\n-]{1,10}`),
		rapid.StringMatching(`[的过滤器一二三]{1,25}[，。、！]?`),
		rapid.StringMatching(`[\x00-\x7F]{1,10}|[一-龥]{1,10}|[\x{2000}-\x{203F}\x{3000}-\x{303F}\x{FF00}-\x{FF3F}a]{1,5}`),
		rapid.SampledFrom([]string{"'", ".", ",", " ", "  ", "\t", "\n", "=", "a", "7", "12,345", "don't ", strings.Repeat(" ", 64), strings.Repeat("=", 65), strings.Repeat("x", 63)}),
		rapid.SampledFrom([]string{"的", "，", "。", "’", "　", "\u2003", "—", "“", "．", "龥", "一", "don’t", "1，000", " 中 ", "中", "用 linux 的", "  的"}),
		rapid.SampledFrom([]string{"a", "b", " ", "é", "丁", "\u0301", "㐀", "\xE4", "\xE4\xB8", "\xE4\xB7\xBF", "\xEA\x80\x80", "\x80", "０"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 1, 60).Draw(t, "parts"), "")
		if n := rapid.IntRange(0, len(text)-1).Draw(t, "from"); rapid.Bool().Draw(t, "later") {
			text = text[n:]
		}
		checkCopy(t, text)
	})
}

func FuzzCopy(f *testing.F) {
	needCopy(f)
	f.Add("Plain words, 3.14 and 1,000; don't = x+y.\n\n  ")
	f.Add("在 Linux 下，用过滤器　（“不”）don’t 1，000。" + strings.Repeat("汉字 ", 30))
	f.Add(strings.Repeat("a ", 31) + "  . b" + strings.Repeat("\t", 70) + "c")
	f.Fuzz(func(t *testing.T, text string) {
		if text != "" {
			checkCopy(t, text)
		}
	})
}

func checkCopy(t rapid.TB, text string) {
	checkCopyWith(t, text, false)
	if hasAVX512 {
		checkCopyWith(t, text, true)
	}
}

func checkCopyWith(t rapid.TB, text string, avx512 bool) {
	dst, starts := make([]byte, 2*len(text)+2*Block), make([]Start, len(text))
	c := copyWith(avx512, classes, dst, []byte(text), starts)
	for i := 0; i < c.Read; {
		if _, must := mayStop(text, i); must {
			t.Fatalf("%q: read %d bytes, should have stopped before %q", text, c.Read, text[i:])
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		if i += size; i > c.Read {
			t.Fatalf("%q: stopped at %d, within a character", text, c.Read)
		}
	}
	if may, _ := mayStop(text, c.Read); c.Read < len(text) && !may {
		t.Fatalf("%q: stopped before %q", text, text[c.Read:])
	}
	out, want, plainly := copied(text, c.Read)
	if c != plainly || string(dst[:c.Written]) != out {
		t.Fatalf("%q:\n%+v, want\n%+v\n%q, want\n%q", text, c, plainly, dst[:c.Written], out)
	}
	if diff := cmp.Diff(want, append([]Start(nil), starts[:c.Starts]...)); diff != "" {
		t.Fatalf("%q: starts -want +got\n%s", text, diff)
	}
}

func BenchmarkCopy(b *testing.B) {
	needCopy(b)
	for name, text := range map[string]string{
		"prose":   "Some words of a text, that is not there to be read; but it's to be copied 3.5 times.\n",
		"code":    "func f(x int) int { if x > 3 && y[x] == '7' { return x+4 } return f(x - 1) }\n",
		"chinese": "一个快速而简单的过滤器，可以用来检查文本是否重复。我们在 Linux 上测试了它的性能！",
	} {
		data := []byte(strings.Repeat(text, 4096/len(text)))
		dst, starts := make([]byte, 2*len(data)+2*Block), make([]Start, len(data))
		run := func(name string, avx512 bool) {
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					copyWith(avx512, classes, dst, data, starts)
				}
			})
		}
		if run(name+"/avx2", false); hasAVX512 {
			run(name+"/avx512", true)
		}
	}
}
