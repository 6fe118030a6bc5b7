package canon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// A line end is soft if the line was full: then it is white space, and cuts nothing. A full line is
// two thirds as long as the longest of its neighbours.
const (
	// linesBefore is the number of earlier lines that are a line's neighbours, up to an empty
	// one. The line behind it is a neighbour too.
	linesBefore = 8
	// minLine is the least width of a full line, and its least number of bytes: entries of a menu
	// are shorter.
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
	from   int    // start of the window in text
	window []byte // of the text, or in space
	space  []byte // for a window with soft line ends
	copied bool   // it is in space

	// ends holds the ends of the lines about the line under way, and those found beyond. Line n of
	// them begins behind ends[n-1], the first one of the text behind -1.
	ends    []int
	line    int // the one under way
	first   int // first line of its paragraph; 0 and less if no longer in ends
	longest int // bytes of the longest line of the paragraph before it
	found   int // how far in text ends are known
	high    int // from here on text is ASCII, as far as ends are known
	masks   [window / vector.Block]uint64
}

func newLines(t *tables) lines {
	return lines{tables: t, space: make([]byte, fewAhead+window), ends: make([]int, 0, linesBefore+3+window)}
}

// reset makes ready for a text.
func (l *lines) reset(text []byte) {
	l.text, l.from, l.window, l.copied = text, 0, nil, false
	l.ends, l.line, l.first, l.longest = append(l.ends[:0], -1), 1, 1, 0
	l.found, l.high = 0, 0
}

// findEnds finds the ends of more lines: at least one, in the end that of the text.
func (l *lines) findEnds() {
	if gone := l.line - linesBefore - 1; gone > 0 {
		l.ends = l.ends[:copy(l.ends, l.ends[gone:])]
		l.line, l.first = l.line-gone, l.first-gone
	}
	n := len(l.ends)
	ends := l.ends[:cap(l.ends)]
	for n == len(l.ends) {
		if l.found == len(l.text) {
			ends[n] = l.found
			n++
			break
		}
		from := l.found
		l.found = min(from+window, len(l.text))
		if high := vector.Feeds(l.masks[:], l.text[from:l.found]); high > 0 {
			l.high = from + high
		}
		for _, mask := range l.masks[:(l.found-from+vector.Block-1)/vector.Block] {
			for ; mask != 0; mask &= mask - 1 {
				ends[n] = from + bits.TrailingZeros64(mask)
				n++
			}
			from += vector.Block
		}
	}
	l.ends = ends[:n]
}

// ahead returns the text from i on, with spaces in place of soft line ends: all of it, or at
// least fewAhead bytes. i is never less than before.
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
	l.softenTo(from)
}

// softenTo goes on to the line with text[to], and puts spaces in the places of the line ends
// before that are soft.
func (l *lines) softenTo(to int) {
	for n := l.line; ; n++ {
		for n+2 > len(l.ends) {
			l.line = n
			l.findEnds()
			n = l.line
		}
		start, end := l.ends[n-1]+1, l.ends[n]
		switch {
		case end >= to:
			l.line = n
			return
		case end-start >= minLine:
			if l.isOpen(end) && l.isFull(n) && end >= l.from {
				l.soften(end - l.from)
			}
		case isEmpty(l.text[start:end]):
			l.first, l.longest = n+1, 0
		}
		l.longest = max(l.longest, end-start)
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

// isEmpty reports whether there is nothing in a line. One of spaces is a short line.
func isEmpty(line []byte) bool { return len(line) == 0 || len(line) == 1 && line[0] == '\r' }

// isOpen reports whether the softness of the line end at text[end] may matter. It does not matter
// if the neighbours separate in any case.
func (l *lines) isOpen(end int) bool {
	if end+1 == len(l.text) || l.tables.ascii[l.text[end+1]].class.separates() {
		return false
	}
	for end > 0 && (l.text[end-1] == ' ' || l.text[end-1] == '\r') {
		end--
	}
	if end > 0 && l.text[end-1] < utf8.RuneSelf {
		return !l.tables.ascii[l.text[end-1]].class.separates()
	}
	r, size := utf8.DecodeLastRune(l.text[:end])
	return size > 0 && !l.tables.of(r).separates()
}

// isFull reports whether line n, the one under way, is two thirds as long as each of those
// about it.
func (l *lines) isFull(n int) bool {
	width := l.width(n)
	if width < minLine || width > maxLine || l.isWider(n+1, width) {
		return false
	}
	if 2*l.longest <= 3*width { // no line has more columns than bytes
		return true
	}
	for before := max(l.first, n-linesBefore); before < n; before++ {
		if l.isWider(before, width) {
			return false
		}
	}
	return true
}

// isWider reports whether two thirds of line n are more than width.
func (l *lines) isWider(n, width int) bool {
	return 2*(l.ends[n]-l.ends[n-1]-1) > 3*width && 2*l.width(n) > 3*width
}

// width is that of line n in columns, up to maxLine and one more.
func (l *lines) width(n int) int {
	start, end := l.ends[n-1]+1, l.ends[n]
	switch {
	case start >= l.high:
		return min(end-start, maxLine+1)
	case end-start > maxLineBytes:
		return maxLine + 1
	}
	return min(columnsIn(l.text[start:end]), maxLine+1)
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
