package html

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// setTitle sets the title, unless the page has one or it is hidden. It drops an incomplete character
// at the end.
func (d *document) setTitle(s []byte) {
	if len(d.title) > 0 || d.isHidden() {
		return
	}
	words := bytes.FieldsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && classOf[r] != visible })
	s = bytes.Join(words, []byte(" "))
	d.title = append(d.title, s[:min(len(s), maxTitle)]...)
	for i := max(0, len(d.title)-utf8.UTFMax+1); i < len(d.title); i++ {
		if !utf8.FullRune(d.title[i:]) {
			d.title = d.title[:i]
		}
	}
}

// put adds text to the current block.
func (d *document) put(s []byte) {
	switch {
	case d.isHidden():
	case d.pre > 0:
		d.putLines(s)
	default:
		d.putWords(s)
	}
}

// separate appends the separator between the block's text and the next word.
func (d *document) separate(next []byte) {
	if d.breaks > 1 {
		d.endBlock()
	}
	if len(d.text) == d.from {
		d.starter = d.here()
	} else {
		switch {
		case d.tab && d.cells:
			d.text = append(d.text, '\t')
		case d.breaks > 0:
			d.text = append(d.text, '\n')
			d.lines = true
		case d.lineSpace && isWide(d.text, next):
		case d.space || d.tab:
			d.text = append(d.text, ' ')
		}
	}
	d.space, d.lineSpace, d.breaks, d.tab = false, false, 0, false
}

// isWide reports whether before ends and next begins with a Chinese or Japanese character. Browsers
// show no space for a line break between two (CSS Text 3, 4.1.3).
func isWide(before, next []byte) bool {
	if before[len(before)-1] < 0x80 || next[0] < 0x80 {
		return false
	}
	a, _ := utf8.DecodeLastRune(before)
	b, _ := utf8.DecodeRune(next)
	return isEastAsian(a) && isEastAsian(b)
}

func isEastAsian(r rune) bool {
	return 0x3000 <= r && r < 0x3100 || 0xff00 <= r && r < 0xff61 || unicode.Is(unicode.Han, r)
}

// putLines appends text of a pre, with its white space.
func (d *document) putLines(s []byte) {
	if bytes.IndexByte(s, '\r') >= 0 {
		s = bytes.ReplaceAll(bytes.ReplaceAll(s, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	if d.atPre && len(s) > 0 {
		d.atPre = false
		if s[0] == '\n' {
			s = s[1:]
		}
	}
	if len(s) == 0 {
		return
	}
	for d.breaks > 0 && len(d.text) > d.from {
		d.text = append(d.text, '\n')
		d.breaks--
	}
	if len(d.text) == d.from {
		d.starter = d.here()
	}
	d.space, d.lineSpace, d.breaks, d.tab = false, false, 0, false
	d.text = append(d.text, s...)
}

func (d *document) endLink() {
	if d.linkDepth > 0 {
		d.countLink()
		d.linkDepth = 0
	}
}

// countLink adds the link text read so far in this block to linkWeight.
func (d *document) countLink() {
	if from := max(d.linkFrom, d.from); from < len(d.text) {
		d.linkWeight += weigh(d.text[from:])
	}
	d.linkFrom = len(d.text)
}

func (d *document) endBlock() {
	if d.linkDepth > 0 {
		d.countLink()
	}
	to := len(d.text)
	if d.pre > 0 {
		for to > d.from && classOf[d.text[to-1]] != visible {
			to--
		}
		d.text = d.text[:to]
	}
	if to > d.from {
		d.addBlock(to)
	}
	d.from = len(d.text)
	d.linkFrom, d.linkWeight = d.from, 0
	d.space, d.lineSpace, d.breaks, d.tab, d.lines, d.cells = false, false, 0, false, false, false
}

func (d *document) addBlock(to int) {
	if len(d.blocks) >= maxBlocks {
		d.blocks[len(d.blocks)-1].to = int32(to)
		d.text = append(d.text, '\n')
		return
	}
	b := block{from: int32(d.from), to: int32(to), element: d.starter, link: d.linkWeight, kind: d.kind()}
	b.measure(d.text[d.from:to])
	d.blocks = append(d.blocks, b)
	d.text = append(d.text, '\n')
}

func (d *document) kind() tag {
	switch {
	case d.pre > 0:
		return preformatted
	case d.head:
		return heading
	case d.cells || d.outer[cell] >= 0 && d.outer[cell] > d.outer[division]:
		return row
	case d.outer[item] >= 0 && d.outer[item] > d.outer[division]:
		return item
	}
	return paragraph
}

// Classes of bytes.
const (
	visible = iota
	blank
	lineFeed
	perhapsBlank // the first byte of a no-break space
)

var classOf = [256]uint8{' ': blank, '\t': blank, '\r': lineFeed, '\f': blank, '\n': lineFeed, 0xc2: perhapsBlank}

// putWords appends text, with white space as single spaces. It appends words a single space apart at
// once.
func (d *document) putWords(s []byte) {
	for len(s) > 0 {
		if n := blankAt(s); n > 0 {
			d.space, d.lineSpace = true, d.lineSpace || classOf[s[0]] == lineFeed
			s = s[n:]
			continue
		}
		n := 1
		for n < len(s) && (classOf[s[n]] == visible || s[n] == ' ' && n+1 < len(s) && classOf[s[n+1]] == visible || blankAt(s[n:]) == 0) {
			n++
		}
		if d.space || d.breaks > 0 || d.tab || len(d.text) == d.from {
			d.separate(s[:n])
		}
		d.text = append(d.text, s[:n]...)
		s = s[n:]
	}
}

// blankAt returns the length of the white space character that s begins with, or 0.
func blankAt(s []byte) int {
	switch {
	case classOf[s[0]] == visible, classOf[s[0]] == perhapsBlank && (len(s) < 2 || s[1] != 0xa0):
		return 0
	case classOf[s[0]] == perhapsBlank:
		return 2
	}
	return 1
}
