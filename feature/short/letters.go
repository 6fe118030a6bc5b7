package short

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// letters reads the letters of words as if the words were joined. Between two digits it reads a seam.
type letters struct {
	of   *words
	list []word
	at   int
	last rune
}

// seam is no letter.
const seam = -1

// next returns the next letter, or 0 at the end.
func (s *letters) next() rune {
	if len(s.list) == 0 {
		return 0
	}
	text := s.of.text(s.list[0])
	r := text[s.at]
	if s.at == 0 && isDigit(r) && isDigit(s.last) {
		s.last = seam
		return seam
	}
	s.last = r
	if s.at++; s.at == len(text) {
		s.list, s.at = s.list[1:], 0
	}
	return r
}

// sameLetters reports whether words differ only in the spaces between them. A dot between digits may be a
// space, but not left out.
func sameLetters(x *words, xs []word, y *words, ys []word) bool {
	s, t := letters{of: x, list: xs}, letters{of: y, list: ys}
	r, q := s.next(), t.next()
	for r != 0 || q != 0 {
		switch {
		case r == q, r == seam && q == '.', q == seam && r == '.':
			r, q = s.next(), t.next()
		case r == seam:
			r = s.next()
		case q == seam:
			q = t.next()
		default:
			return false
		}
	}
	return true
}

// cutsWord reports whether xs is one word, cut, that the words ys begin with.
func cutsWord(x *words, xs []word, y *words, ys []word) bool {
	if len(xs) != 1 || len(ys) == 0 {
		return false
	}
	a, b := x.text(xs[0]), y.text(ys[0])
	return len(a) <= len(b) && slices.Equal(a, b[:len(a)])
}

// slip reports whether two words differ in one letter behind the first: another one, one more or less, or
// two exchanged.
func slip(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < minSlip || len(b) > len(a)+1 || a[0] != b[0] {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) < len(b):
		return slices.Equal(a[i:], b[i+1:])
	case i == len(a) || slices.Equal(a[i+1:], b[i+1:]):
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}

// sides has characters that stand for one another in sentences that are otherwise equal, and change what
// these say.
var sides = func() (runes [][]rune) {
	for _, side := range strings.Fields("〇零一二两三四五六七八九十百千万亿 东西南北 上下 左右 前后 大小 多少 高低 男女 涨跌 升降 买卖 " +
		"进出 输赢胜负 早晚 春夏秋冬 中美英法德俄日韩") {
		runes = append(runes, []rune(side))
	}
	return runes
}()

// mayStandFor reports whether both words are single characters, one perhaps put for the other by mistake.
func (w *words) mayStandFor(x word, other *words, y word) bool {
	if x.kind&y.kind&single == 0 {
		return false
	}
	for _, side := range sides {
		if slices.Contains(side, w.letters[x.start]) && slices.Contains(side, other.letters[y.start]) {
			return false
		}
	}
	return true
}

// negations deny, except where they stand in one of the compounds.
var (
	negations = set(strings.Join(strings.Split(string(denying), ""), " ") + " not no never none nobody nothing without cannot isnt arent wasnt werent dont " +
		"doesnt didnt wont wouldnt cant couldnt shouldnt hasnt havent hadnt aint")
	compounds = set("非常 特别 不过 不但 不仅 无论 不管 不断 区别 分别 差别 个别 别人 别的 告别 级别 性别 是非 除非 未来 要不 不同 不少 不久 不得 不如")
)

func set(list string) map[string]bool {
	is := map[string]bool{}
	for _, s := range strings.Fields(list) {
		is[s] = true
	}
	return is
}

var denying = []rune("不没无非未别莫勿否")

const maxNegation = 9 // letters

// denials counts the negations among the words from one to another, exclusive.
func denials(w *words, from, to int) (n int) {
	for i := from; i < to; i++ {
		x := w.list[i]
		if x.kind&single != 0 && !slices.Contains(denying, w.letters[x.start]) {
			continue
		}
		if w.has(negations, i, i+1) && !w.has(compounds, i, i+2) && !w.has(compounds, i-1, i+1) {
			n++
		}
	}
	return n
}

// has reports whether the set has the words from one to another, exclusive, joined.
func (w *words) has(set map[string]bool, from, to int) bool {
	if from < 0 || to > len(w.list) {
		return false
	}
	text := w.letters[w.list[from].start:w.list[to-1].end]
	if len(text) > maxNegation {
		return false
	}
	var buf [4 * maxNegation]byte
	b := buf[:0]
	for _, r := range text {
		b = utf8.AppendRune(b, r)
	}
	return set[string(b)]
}

// join returns words as a text.
func (w *words) join(list []word) string {
	var b strings.Builder
	for i, x := range list {
		if i > 0 && (x.kind|list[i-1].kind)&single == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(w.text(x)))
	}
	return b.String()
}
