package canon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// runeContexts repeat a character within words, in long runs, and between different syllables.
var runeContexts = map[string]func(r string) string{
	"word": func(r string) string { return strings.Repeat("wort"+r+"wort und wort, ", 20) },
	"run":  func(r string) string { return strings.Repeat("wort "+strings.Repeat(r, 20)+" wort, ", 10) },
	"mixed": func(r string) string {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "%c%s%c%s", 'a'+i%26, r, 0xAC00+i*397%11172, r)
			if i%8 == 7 {
				b.WriteString(", ")
			}
		}
		return b.String()
	},
}

// A runeCost is the time to scan a text around a character.
type runeCost struct {
	r  rune
	ns float64 // per byte
}

func (c *runeCost) measure(s *Scanner, text []byte, times int) {
	for range times {
		start := time.Now()
		pass(s, text)
		c.ns = min(c.ns, float64(time.Since(start).Nanoseconds())/float64(len(text)))
	}
}

// BenchmarkRunes scans texts around every assigned character and logs the slowest per byte. No
// character may make a text cost much more than another. Run it once, with -benchtime 1x.
func BenchmarkRunes(b *testing.B) {
	for name, text := range runeContexts {
		b.Run(name, func(b *testing.B) {
			s := NewScanner()
			var costs []runeCost
			for r := rune(0); r <= utf8.MaxRune; r++ {
				if canontest.Assigned(r) && (r <= 0xE000 || r >= 0xF900) && r <= 0xF0000 {
					c := runeCost{r, 1e9}
					c.measure(s, []byte(text(string(r))), 5)
					costs = append(costs, c)
				}
			}
			bySlowest := func(a, b runeCost) int { return cmp.Compare(b.ns, a.ns) }
			slices.SortFunc(costs, bySlowest)
			slow := costs[:3000] // includes those that were interrupted
			for i := range slow {
				slow[i].measure(s, []byte(text(string(slow[i].r))), 50)
			}
			slices.SortFunc(slow, bySlowest)
			var list strings.Builder
			for _, at := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 20, 25, 30, 40, 50, 70, 100, 140, 200, 400, 800} {
				fmt.Fprintf(&list, "%4d: %U %q %.1f\n", at, slow[at].r, slow[at].r, slow[at].ns)
			}
			b.ReportMetric(costs[len(costs)/2].ns, "median-ns/B")
			b.ReportMetric(slow[0].ns, "max-ns/B")
			b.Log("the slowest, in ns/B:\n" + list.String())
		})
	}
}
