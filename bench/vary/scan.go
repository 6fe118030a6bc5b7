package vary

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scanned returns a set of articles, followed by the same ones as read by a machine. In these, 1,
// 2, 3, 4 or 5% of the letters are wrong. inLines also breaks them as on paper, with English words
// hyphenated.
func Scanned(m *Material, articles int, inLines bool, seed uint64) *Set {
	s := &Set{Name: "noise_" + m.Language}
	if inLines {
		s.Name = "scan_" + m.Language
	}
	rng := source(seed, s.Name)
	for i := range articles {
		s.add(fmt.Sprintf("%s-%03d", s.Name, i), m.Articles[i].Text(), i)
	}
	for i := range articles {
		percent := 1 + i%5
		text := misread(m.Articles[i].Text(), float64(percent)/100, rng)
		if inLines {
			text = m.print(text, rng)
		}
		s.add(s.Docs[i].ID+"-read", text, i)
		s.Pairs = append(s.Pairs, Pair{s.Docs[i].ID, s.Docs[i].ID + "-read", fmt.Sprintf("letters:%d%%", percent)})
	}
	return s
}

// print breaks a text into lines as on paper.
func (m *Material) print(text string, rng *rand.Rand) string {
	if m.Language == "zh" {
		return breakLines(text, 34)
	}
	return hyphenate(text, 66, rng)
}

// misread makes mistakes in a share of the letters, 0 to 1.
func misread(text string, rate float64, rng *rand.Rand) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsLetter(r) && rng.Float64() < rate {
			size = mistake(&b, text[i:], r, rng)
		} else {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// mistake writes a misreading of the beginning of rest, which is the letter r, and returns the
// number of bytes that it replaces.
func mistake(b *strings.Builder, rest string, r rune, rng *rand.Rand) (read int) {
	size := utf8.RuneLen(r)
	if unicode.Is(unicode.Han, r) {
		b.WriteRune(lookalikeHan(r, rng))
		return size
	}
	switch rng.IntN(10) {
	case 0: // a word split
		b.WriteRune(r)
		b.WriteByte(' ')
		return size
	case 1: // two words in one
		b.WriteRune(r)
		if strings.HasPrefix(rest[size:], " ") {
			size++
		}
		return size
	case 2: // not seen
		return size
	}
	for _, c := range confusions {
		if strings.HasPrefix(rest, c[0]) {
			b.WriteString(c[1])
			return len(c[0])
		}
	}
	b.WriteRune(anyLetter(r, rng))
	return size
}

// confusions lists misreadings by machines, longer ones first.
var confusions = [][2]string{
	{"rn", "m"},
	{"cl", "d"},
	{"vv", "w"},
	{"ri", "n"},
	{"li", "h"},
	{"nn", "rm"},
	{"m", "rn"},
	{"l", "1"},
	{"I", "l"},
	{"O", "0"},
	{"o", "0"},
	{"S", "5"},
	{"B", "8"},
	{"e", "c"},
	{"c", "e"},
	{"h", "b"},
	{"b", "h"},
	{"u", "n"},
	{"n", "u"},
	{"a", "o"},
	{"t", "f"},
	{"f", "t"},
	{"i", "l"},
	{"d", "cl"},
	{"w", "vv"},
	{"g", "q"},
	{"s", "5"},
	{"r", "v"},
	{"v", "y"},
	{"y", "v"},
	{"D", "O"},
	{"E", "F"},
	{"G", "6"},
	{"T", "I"},
}

func anyLetter(r rune, rng *rand.Rand) rune {
	if unicode.IsUpper(r) {
		return 'A' + rune(rng.IntN(26))
	}
	return 'a' + rune(rng.IntN(26))
}

// lookalikes are groups of Han characters that differ by about one stroke.
var lookalikes = strings.Fields(`己已巳 未末 土士 日曰目 人入八 大太犬 天夭 干千于 王玉主 木本术 田由甲申 力刀
	白百自 小少 午牛 友发 东车 今令 折拆 住往 侯候 兔免 准淮 治冶 戊戌戍 为办 厂广 几儿九 无元 干于 问间 同问
	市布 开升 名各 处外 见贝 风凤 鸟乌 没设 话活 情清 请清 体休 何河 到倒 的约 和知 在左 有冇 中申 国围 年午
	经径 来米 过边 说锐 地她 对时 后石 这边 会全 业亚 发友 成戌 公分 部陪 民氏 进井 工土 方万 们门`)

// lookalikeHan returns a character of the same group, or one near it in the order of Unicode, which
// is by radical and number of strokes.
func lookalikeHan(r rune, rng *rand.Rand) rune {
	for _, group := range lookalikes {
		if strings.ContainsRune(group, r) {
			for _, other := range group {
				if other != r {
					return other
				}
			}
		}
	}
	if near := r + rune(1+rng.IntN(6)); unicode.Is(unicode.Han, near) {
		return near
	}
	return r - 1
}

// breakLines breaks lines after width characters.
func breakLines(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, r := range text {
		if r == '\n' {
			column = 0
		} else if column++; column > width {
			b.WriteByte('\n')
			column = 1
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hyphenate breaks English text into lines of width bytes. It hyphenates half of the long words
// that cross the end of a line.
func hyphenate(text string, width int, rng *rand.Rand) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n\n")
		}
		column := 0
		for _, word := range strings.Fields(paragraph) {
			column = putWord(&b, word, column, width, rng)
		}
	}
	return b.String()
}

// putWord appends a word to a line of column bytes, and returns the line's new length.
func putWord(b *strings.Builder, word string, column, width int, rng *rand.Rand) int {
	switch room := width - column - 1; {
	case column == 0:
	case len(word) <= room:
		b.WriteByte(' ')
		column++
	case room >= 4 && len(word) >= room+2 && isLetters(word) && rng.IntN(2) == 0:
		b.WriteString(" " + word[:room-1] + "-\n")
		word, column = word[room-1:], 0
	default:
		b.WriteByte('\n')
		column = 0
	}
	b.WriteString(word)
	return column + len(word)
}

func isLetters(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) })
}
