package canon

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// The end of a full line is soft: it is white space and cuts nothing. A line is full if it is at
// least two thirds as long as its longest neighbour.
const (
	// linesBefore is the number of preceding lines that are neighbours of a line, up to an empty
	// line. The following line is also a neighbour.
	linesBefore = 8
	// minLine is the minimum width of a full line, and its minimum number of bytes: menu entries
	// are shorter.
	minLine      = 30
	maxLine      = 255         // maximum width of a full line; wider ones are paragraphs
	maxLineBytes = 3 * maxLine // maximum bytes of a line of that width

	// window is the maximum number of new bytes in the text window. It is small enough to stay in
	// the L1 cache until they are copied.
	window   = 4 << 10
	fewAhead = 512 // minimum bytes ahead before the window advances
)

// lines finds the soft line ends of a text. It presents the text through a window with a space in
// place of each.
type lines struct {
	tables *tables
	text   []byte
	stop   int    // where windows end
	step   int    // bytes in which to find line ends at a time
	from   int    // start of the window in text
	window []byte // part of text, or of space
	space  []byte // buffer for windows with soft line ends
	copied bool   // window is in space

	// ends holds the ends of the lines around the current one, and of those found beyond. Line n
	// begins after ends[n-1]; the first line of the text begins after -1.
	ends    []int
	line    int // the current line
	first   int // first line of its paragraph; 0 or less if no longer in ends
	longest int // bytes of the longest preceding line of the paragraph
	found   int // the end of the part of text with known ends
	high    int // text[high:found] is ASCII
	masks   [window / vector.Block]uint64
}

func newLines(t *tables) lines {
	return lines{tables: t, space: make([]byte, fewAhead+window), ends: make([]int, 0, linesBefore+3+window)}
}

func (l *lines) reset(text []byte) { l.resetAt(text, 0, len(text)) }

// resetAt starts a text whose lines before at were read, up to stop.
func (l *lines) resetAt(text []byte, at, stop int) {
	start := linesAround(text, at)
	l.text, l.stop, l.from, l.window, l.copied = text, stop, 0, nil, false
	l.ends, l.line, l.first, l.longest = append(l.ends[:0], start-1), 1, 1, 0
	l.found, l.high = start, 0
	l.step = min(window, (stop-start)/vector.Block*vector.Block+fewAhead)
}

// linesAround returns the start of the first line that is a neighbour of one at or after text[at].
// Of a line too wide to be full it returns the start of a part that is so, too: no other neighbour
// is wider, since widths beyond maxLine are not told apart.
func linesAround(text []byte, at int) (start int) {
	start = at
	for before := range linesBefore + 1 {
		end := start
		if before > 0 {
			end-- // the line feed
		}
		least := max(0, end-maxLineBytes-1)
		from := least + bytes.LastIndexByte(text[least:end], '\n') + 1
		if before > 0 && isEmpty(text[from:end]) {
			break
		}
		if start = from; start == least {
			break
		}
	}
	return start
}

// findEnds finds at least one more line end. The last one is the end of the text.
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
		l.found = min(from+l.step, len(l.text))
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

// ahead returns the text from i on, with spaces in place of soft line ends: all of it, or at least
// fewAhead bytes. i must not decrease.
func (l *lines) ahead(i int) []byte {
	if end := l.from + len(l.window); i+fewAhead > end && end < l.stop {
		l.advance(i, end)
	}
	return l.window[i-l.from:]
}

// advance moves the start of the window, which ends at end, to i.
func (l *lines) advance(i, end int) {
	from := min(i+fewAhead+window, l.stop)
	if from < l.stop && l.text[from-1] == '\r' {
		from-- // keep it with a following line feed
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

// softenTo advances to the line with text[to], and replaces soft line ends before it with spaces.
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
			if end >= l.from && l.isOpen(end) && l.isFull(n) {
				l.soften(end - l.from)
			}
		case isEmpty(l.text[start:end]):
			l.first, l.longest = n+1, 0
		}
		l.longest = max(l.longest, end-start)
	}
}

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

// isEmpty reports whether a line is empty. A line of spaces is a short line.
func isEmpty(line []byte) bool { return len(line) == 0 || len(line) == 1 && line[0] == '\r' }

// isOpen reports whether it matters if the line end at text[end] is soft. It does not if a
// separator is next to it.
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

// isFull reports whether line n, the current one, is at least two thirds as long as each neighbour.
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

// isWider reports whether two thirds of line n exceed width.
func (l *lines) isWider(n, width int) bool {
	return 2*(l.ends[n]-l.ends[n-1]-1) > 3*width && 2*l.width(n) > 3*width
}

// width returns the width of line n in columns, at most maxLine+1.
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

// columnsIn returns the columns of a line without classifying its characters: two for those from
// U+3000 on, else one.
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

// wideIn returns the number of columns minus the number of bytes. It adds one per lead byte from E3
// on (U+3000) and subtracts one per continuation byte.
func wideIn(x uint64) int {
	begins := x & (x << 1) & highs
	wide := x & (x&^highs + (0x80-0x63)*ones) & highs
	return bits.OnesCount64(wide) - bits.OnesCount64(x&highs&^begins)
}

// isSoft reports whether b at text[i] is part of a soft line end.
func (s *Scanner) isSoft(b byte, i int) bool {
	return (b == '\n' || b == '\r') && s.lines.ahead(i)[0] == ' '
}
