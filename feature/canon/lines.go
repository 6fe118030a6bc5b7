package canon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A line end is soft where the line was full: then it is white space, and cuts nothing.
// Full is a line that is two thirds as long as the longest of those about it.
const (
	// linesBefore is how many lines before a line are about it, up to an empty one, and so is
	// the one behind it.
	linesBefore = 8
	// minLine is the least width of a line that is full, and how many bytes it has at least:
	// entries of a menu are shorter.
	minLine = 30
	// maxLine is the greatest width that counts. A line of more is a paragraph.
	maxLine = 255
	// maxLineBytes is how many bytes such a line has at most.
	maxLineBytes = 3 * maxLine

	// window is how many bytes of text are looked at together at most, but for those that
	// were before: few enough to stay in the nearest cache until they have been copied.
	window = 4 << 10
	// fewAhead is from how little on more is looked at.
	fewAhead = 512
)

// lines goes through the lines of a text, and looks at it through a window in which a space
// stands in the place of each soft line end.
type lines struct {
	tables *tables
	text   []byte
	from   int    // where in text the window begins
	window []byte // of the text, or in space
	space  []byte // for a window with soft line ends
	copied bool   // it is in space

	feeds feeds

	// Lines count from 1. The end of line n is at n modulo the length.
	ends    [rememberedLines]int
	number  int // of the line under way
	first   int // of the paragraph
	end     int // of the line under way
	longest int // bytes of the longest line of the paragraph before it
}

// rememberedLines is more than are about a line, and a power of two.
const rememberedLines = 2 * linesBefore

func newLines(t *tables) lines { return lines{tables: t, space: make([]byte, fewAhead+window)} }

// reset makes ready for a text.
func (l *lines) reset(text []byte) {
	l.text, l.from, l.window, l.copied = text, 0, nil, false
	l.feeds.reset(text)
	l.number, l.first, l.longest = 1, 1, 0
	l.ends[0] = -1
	l.end = l.feeds.next()
	l.ends[1] = l.end
	l.ends[2] = l.feeds.next()
}

// start is where the n-th line begins. The lines from number-linesBefore to number+1 are known.
func (l *lines) start(n int) int { return l.ends[(n-1)%rememberedLines] + 1 }

// bytes is how long the n-th line is.
func (l *lines) bytes(n int) int { return l.ends[n%rememberedLines] - l.start(n) }

// ahead is what comes in the text at i, with soft line ends as spaces: all, or fewAhead
// bytes at least. i is never less than before.
func (l *lines) ahead(i int) []byte {
	if end := l.from + len(l.window); i+fewAhead > end && end < len(l.text) {
		l.advance(i, end)
	}
	return l.window[i-l.from:]
}

// advance has the window, which ends at end, begin at i.
func (l *lines) advance(i, end int) {
	from := min(i+fewAhead+window, len(l.text))
	if from < len(l.text) && l.text[from-1] == '\r' {
		from-- // with the line end behind it, if there is one
	}
	window := l.text[i:from]
	if l.copied = l.copied && i < end; l.copied {
		n := copy(l.space, l.window[i-l.from:])
		copy(l.space[n:], window[n:])
		window = l.space[:len(window)]
	}
	l.from, l.window = i, window
	for l.end < from {
		if at := l.end - i; l.next() && at >= 0 {
			l.soften(at)
		}
	}
}

// soften puts a space in the place of the line end at window[at].
func (l *lines) soften(at int) {
	if !l.copied {
		l.window = l.space[:copy(l.space, l.window)]
		l.copied = true
	}
	l.window[at] = ' '
	if at > 0 && l.window[at-1] == '\r' {
		l.window[at-1] = ' '
	}
}

// next goes on to the next line, and reports whether the end of the one under way is soft.
func (l *lines) next() (soft bool) {
	line := l.text[l.start(l.number):l.end]
	if len(line) >= minLine {
		soft = l.isOpen(line) && l.isFull()
	}
	l.longest = max(l.longest, len(line))
	if isEmpty(line) {
		l.first, l.longest = l.number+1, 0
	}
	l.number++
	l.end = l.ends[l.number%rememberedLines]
	l.ends[(l.number+1)%rememberedLines] = l.feeds.next()
	return soft
}

// isEmpty reports whether there is nothing but spaces in a line.
func isEmpty(line []byte) bool {
	for _, b := range line {
		if b != ' ' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}

// isOpen reports whether it may matter if the end of the line is soft: not where something
// separates in any case.
func (l *lines) isOpen(line []byte) bool {
	if next := l.end + 1; next >= len(l.text) || l.tables.ascii[l.text[next]].class.separates() {
		return false
	}
	for len(line) > 0 && (line[len(line)-1] == ' ' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if len(line) == 0 {
		return false
	}
	if b := line[len(line)-1]; b < utf8.RuneSelf {
		return !l.tables.ascii[b].class.separates()
	}
	r, _ := utf8.DecodeLastRune(line)
	return !l.tables.of(r).separates()
}

// isFull reports whether the line under way is two thirds as long as each of those about it.
// No line has more columns than bytes, so widths are asked for where bytes do not do.
func (l *lines) isFull() bool {
	width := l.width(l.number)
	if width < minLine || width > maxLine {
		return false
	}
	if 2*l.bytes(l.number+1) > 3*width && 2*l.width(l.number+1) > 3*width {
		return false
	}
	if 2*l.longest <= 3*width {
		return true
	}
	for n := max(l.first, l.number-linesBefore); n < l.number; n++ {
		if 2*l.bytes(n) > 3*width && 2*l.width(n) > 3*width {
			return false
		}
	}
	return true
}

// width is that of the n-th line.
func (l *lines) width(n int) int {
	start, end := l.start(n), l.ends[n%rememberedLines]
	if start >= l.feeds.high {
		return min(end-start, maxLine+1)
	}
	return widthOf(l.text[start:end])
}

// widthOf is the width of a line in columns, up to maxLine and one more.
func widthOf(line []byte) int {
	if len(line) > maxLineBytes {
		return maxLine + 1
	}
	return min(columnsIn(line), maxLine+1)
}

// columnsIn counts the columns of a line, without asking what its characters are: two for
// those from U+3000 on, one for each other.
func columnsIn(line []byte) (n int) {
	n = len(line)
	for ; len(line) >= 8; line = line[8:] {
		if x := binary.LittleEndian.Uint64(line) & highs; x != 0 {
			n += wideIn(binary.LittleEndian.Uint64(line))
		}
	}
	var rest [8]byte
	copy(rest[:], line)
	return n + wideIn(binary.LittleEndian.Uint64(rest[:]))
}

// wideIn is how many columns more than bytes eight bytes have: those of characters from
// U+3000 on, which begin with E3 or more, less those that begin none.
func wideIn(x uint64) int {
	begins := x & (x << 1) & highs
	wide := x & (x&^highs + (0x80-0x63)*ones) & highs
	return bits.OnesCount64(wide) - bits.OnesCount64(x&highs&^begins)
}

// isSoft reports whether b at text[i] is a soft line end, or belongs to one.
func (s *Scanner) isSoft(b byte, i int) bool {
	return (b == '\n' || b == '\r') && s.lines.ahead(i)[0] == ' '
}
