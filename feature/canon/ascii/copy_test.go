package ascii

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// classes are those of docs/canonical.md, as far as ASCII goes.
var classes = func() *Classes {
	c := new(Classes)
	for b := range c.Class {
		c.Form[b] = ' '
		switch {
		case 'a' <= b|0x20 && b|0x20 <= 'z':
			c.Class[b], c.Form[b] = Letter, byte(b|0x20)
		case '0' <= b && b <= '9':
			c.Class[b], c.Form[b] = Digit, byte(b)
		case b == ' ' || b == '\t':
			c.Class[b] = Blank
		case strings.IndexByte("$+<=>^`|~", byte(b)) >= 0:
			c.Class[b], c.Form[b] = Symbol, byte(b)
		}
	}
	c.Class['.'], c.Form['.'] = Dot, '.'
	c.Class[','], c.Form[','] = Comma, ','
	c.Class['\''], c.Form['\''] = Quote, '\''
	return c
}()

func classAt(text string, i int) uint8 {
	if i < 0 || i >= len(text) || text[i] >= 0x80 {
		return 0
	}
	return classes.Class[text[i]]
}

// copied is Copy told plainly, byte by byte.
func copied(text string) (out string, starts []Start, c Copied) {
	c.Separated = true
	i := 0
	for ; i < len(text); i++ {
		b, class := text[i], classAt(text, i)
		before, after := classAt(text, i-1), classAt(text, i+1)
		if b >= 0x80 || class&(Symbol|Dot|Comma|Quote) != 0 && i+1 < len(text) && text[i+1] >= 0x80 ||
			class == Comma && before == Digit && after == Digit {
			break
		}
		spaced := out == "" || strings.HasSuffix(out, " ")
		word := class&(Letter|Digit) != 0 || class == Dot && before == Digit && after == Digit ||
			class == Quote && before == Letter && after == Letter
		switch {
		case word || class == Symbol:
			if !spaced && (class == Symbol || classAt(out, len(out)-1) == Symbol) {
				out += " "
			}
			if class == Symbol || c.Separated {
				starts = append(starts, Start{uint32(len(out)), uint32(i)})
			}
			out += string(classes.Form[b])
			c.Separated = class == Symbol
		default:
			if !spaced {
				out += " "
			}
			c.Separated = c.Separated || class != Blank
		}
	}
	c.Read, c.Written, c.Starts = i, len(out), len(starts)
	return out, starts, c
}

func needCopy(t testing.TB) {
	if !CanCopy {
		t.Skip("the processor has no instructions for it")
	}
}

// TestCopy holds Copy to what is told plainly, on texts of all lengths around those of
// blocks.
func TestCopy(t *testing.T) {
	needCopy(t)
	part := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,12} |[a-z]{1,6}[,.;] |[0-9]{1,3}`),
		rapid.StringMatching(`[a-z0-9 .,'=+_\n-]{1,10}`),
		rapid.SampledFrom([]string{"'", ".", ",", " ", "  ", "\t", "\n", "=", "a", "7", "12,345", "don't ", strings.Repeat(" ", 64), strings.Repeat("=", 65), strings.Repeat("x", 63)}),
		rapid.SampledFrom([]string{"a", "b", " ", "é", "的", "\x80"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 1, 80).Draw(t, "parts"), "")
		if n := rapid.IntRange(0, len(text)-1).Draw(t, "from"); rapid.Bool().Draw(t, "later") {
			text = text[n:]
		}
		checkCopy(t, text)
	})
}

func FuzzCopy(f *testing.F) {
	needCopy(f)
	f.Add("Plain words, 3.14 and 1,000; don't = x+y.\n\n  ")
	f.Add(strings.Repeat("a ", 31) + "  . b" + strings.Repeat("\t", 70) + "c")
	f.Fuzz(func(t *testing.T, text string) {
		if text != "" {
			checkCopy(t, text)
		}
	})
}

func checkCopy(t rapid.TB, text string) {
	dst, starts := make([]byte, 2*len(text)+2*Block), make([]Start, len(text))
	c := Copy(classes, dst, []byte(text), starts)
	out, want, plainly := copied(text)
	if c != plainly || string(dst[:c.Written]) != out {
		t.Fatalf("%q:\n%+v, want\n%+v\n%q, want\n%q", text, c, plainly, dst[:c.Written], out)
	}
	if diff := cmp.Diff(want, append([]Start(nil), starts[:c.Starts]...)); diff != "" {
		t.Fatalf("%q: starts -want +got\n%s", text, diff)
	}
}

func BenchmarkCopy(b *testing.B) {
	for name, text := range map[string]string{
		"prose": "Some words of a text, that is not there to be read; but it's to be copied 3.5 times.\n",
		"code":  "func f(x int) int { if x > 3 && y[x] == '7' { return x+4 } return f(x - 1) }\n",
	} {
		data := []byte(strings.Repeat(text, 4096/len(text)))
		dst, starts := make([]byte, 2*len(data)+2*Block), make([]Start, len(data))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				Copy(classes, dst, data, starts)
			}
		})
	}
}
