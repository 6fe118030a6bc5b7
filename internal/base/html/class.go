package html

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// Bits of an entry of traits.
const (
	weighs      = 1<<2 - 1 // mask of the weight
	mark        = 1 << 2   // an ASCII mark; it ends a phrase before a byte with followsMark
	followsMark = 1 << 3
	wideMark    = 1 << 4 // first byte of a mark beyond ASCII
	notLast     = 1 << 5 // may follow the mark that ends a sentence
	letter      = 1 << 6 // first of 58 bits; each ASCII letter has one, all other bytes share six
)

// traits holds the traits of each byte. A letter or digit weighs 1. A Chinese, Japanese or Korean
// character weighs 3, because it stands for more than half a word.
var traits = func() (t [256]uint64) {
	for c := range 256 {
		switch {
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			t[c] = 1
		case 0xc3 <= c && c < 0xe3: // first bytes: Latin to Hangul letters
			t[c] = 1
		case 0xe3 <= c && c < 0xee || c == 0xf0: // kana, ideographs, syllables
			t[c] = 3
		}
	}
	for what, of := range map[uint64]string{
		mark: ",.;:!?", followsMark: " \n\t\"')\xe2\xc2", wideMark: "\xe3\xef\xd8", notLast: " \n\t\"')]}",
	} {
		for _, c := range []byte(of) {
			t[c] |= what
		}
	}
	for c := range 256 {
		if c >= 0xe3 {
			t[c] |= followsMark // ASCII marks in Chinese text
		}
		switch {
		case 'a' <= c && c <= 'z':
			t[c] |= letter << (c - 'a')
		case 'A' <= c && c <= 'Z':
			t[c] |= letter << (26 + c - 'A')
		case c >= 0x80:
			t[c] |= letter << (52 + c%6)
		}
	}
	return t
}()

// weigh returns the weight of a text.
func weigh(text []byte) (weight int32) {
	for _, c := range text {
		weight += int32(traits[c] & weighs)
	}
	return weight
}

// measure sets the fields of b that depend on its text. An ASCII mark counts at the end of the
// text, or before white space, a quotation mark, a parenthesis or Chinese. The test avoids a
// branch, which most words would mispredict.
func (b *block) measure(text []byte) {
	weight, marks, before, all := int32(0), int32(0), uint64(0), uint64(0)
	for i, c := range text {
		t := traits[c]
		weight += int32(t & weighs)
		marks += int32(before & (t >> 1) / mark & 1)
		if t&wideMark != 0 && isWideMark(text[i:]) {
			marks++
		}
		all |= t
		before = t
	}
	b.weight, b.marks = weight, marks+int32(before/mark&1)
	b.ended = endsSentence(text)
	b.rights = weight < maxRights && (hasOne(signs, text, all) || hasOne(notices, text, all) && isNotice(text))
}

// endsSentence reports whether text ends a sentence, closing brackets and quotation marks aside.
func endsSentence(text []byte) bool {
	for len(text) > 0 && traits[text[len(text)-1]]&notLast != 0 {
		text = text[:len(text)-1]
	}
	for {
		r, n := utf8.DecodeLastRune(text)
		switch r {
		case '”', '’', '»', '」', '』', '）':
			text = text[:len(text)-n]
			continue
		case '.', '!', '?', ':', '…', '。', '！', '？', '：', '；':
			return true
		}
		return false
	}
}

// isWideMark reports whether text begins with a Chinese, Japanese or Arabic punctuation mark.
func isWideMark(text []byte) bool {
	if len(text) < 3 {
		return false
	}
	switch text[0] {
	case 0xe3: // 、。
		return text[1] == 0x80 && (text[2] == 0x81 || text[2] == 0x82)
	case 0xef: // ，！？；：
		return text[1] == 0xbc && (text[2] == 0x8c || text[2] == 0x81 || text[2] == 0x9f || text[2] == 0x9b || text[2] == 0x9a)
	}
	return text[1] == 0x8c || text[1] == 0x9b || text[1] == 0x9f // Arabic
}

// maxRights exceeds the weight of any copyright notice.
const maxRights = 300

// A phrase holds the letter bits of its bytes. Few texts without the phrase have all these bits.
type phrase struct {
	text    []byte
	letters uint64
}

func phrases(texts ...string) (all []phrase) {
	for _, text := range texts {
		p := phrase{text: []byte(text)}
		for _, c := range p.text {
			p.letters |= traits[c] &^ (letter - 1)
		}
		all = append(all, p)
	}
	return all
}

// signs are phrases that occur in copyright notices, but not in texts about them. notices reserve
// rights or name the copyright owner, and occur in other texts too.
var (
	signs   = phrases("©", "版权所有", "版權所有", "無断転載", "ICP备", "ICP证")
	notices = phrases("yright", "ghts res", "YRIGHT", "GHTS RES")
)

// hasOne reports whether a text with these traits contains one of the phrases.
func hasOne(of []phrase, text []byte, traits uint64) bool {
	for i := range of {
		if p := &of[i]; traits&p.letters == p.letters && bytes.Contains(text, p.text) {
			return true
		}
	}
	return false
}

var copyright = regexp.MustCompile("opyright|OPYRIGHT")

// isNotice reports whether a text that contains one of notices is itself a notice. A notice
// reserves all rights, or has a year or sign after its first "copyright", which shows the subject.
func isNotice(text []byte) bool {
	if bytes.Contains(text, []byte("ll rights reserved")) || bytes.Contains(text, []byte("LL RIGHTS RESERVED")) {
		return true
	}
	at := copyright.FindIndex(text)
	if at == nil {
		return false
	}
	after := bytes.TrimLeft(text[at[1]:], " :")
	return len(after) > 0 && (after[0] == '(' || '0' <= after[0] && after[0] <= '9')
}

// Least weights. A word is six English letters, with the space, or two Chinese characters.
const (
	goodWeight  = 80  // a paragraph with marks
	plainWeight = 200 // a paragraph without marks
	nearWeight  = 20  // a sentence
	teaser      = 700 // the most that a teaser weighs; 140 Chinese characters weigh 420
	leastMain   = 140 // an article
	sureMain    = 600 // an article accepted whatever surrounds it
	mostEntry   = 40  // a lighter link may be a menu entry; headlines and product names are longer
	leastName   = 12  // a heading that identifies the page
)

// A class is the rating of a block.
type class uint8

const (
	short  class = iota // a heading, a label, an item
	near                // a sentence
	good                // a paragraph
	linky               // mostly links
	teased              // a paragraph alone between links
	beside              // marked by the page as outside the article
)

// classify sets the class of each block from its own measures and its neighbours.
func (p *picker) classify(d *document, regions bool) {
	for i := range d.blocks {
		b := &d.blocks[i]
		p.class[i] = b.class()
		if regions && d.elements[b.element].region&outside != 0 {
			p.class[i] = beside
		}
	}
	p.joinLines(d)
	before := beside
	for i, c := range p.class {
		if c == good && p.isTeaser(d, i, before) {
			p.class[i] = teased
		}
		if c != short || d.blocks[i].kind == heading {
			before = c
		}
	}
	p.restore(d)
	p.build()
}

// restore turns teasers back into paragraphs if their element has at least as many paragraphs.
func (p *picker) restore(d *document) {
	p.sum = sized(p.sum, len(d.elements))
	for i, c := range p.class {
		switch c {
		case good:
			p.sum[d.blocks[i].element].balance++
		case teased:
			p.sum[d.blocks[i].element].balance--
		}
	}
	for i, c := range p.class {
		if s := &p.sum[d.blocks[i].element]; c == teased && s.balance >= 0 {
			p.class[i] = good
		}
	}
}

// Least number and total weight of lines that form text, such as poems, dialogue and figures.
const (
	fewLines    = 3
	linesWeight = 150
)

// joinLines rates lines that stand together in one element as text. Menus have no such lines: they
// are lists, even without links. Insertions by the site have other elements and divide no lines.
func (p *picker) joinLines(d *document) {
	for from := 0; from < len(p.class); {
		to, weight := p.lines(d, from)
		if to-from < fewLines {
			from = max(to, from+1)
			continue
		}
		end := to
		for next := p.behindGap(d, end); next > 0; next = p.behindGap(d, end) {
			to, more := p.lines(d, next)
			end, weight = to, weight+more
			if to-next < fewLines {
				break
			}
		}
		for i := from; i < end && weight >= linesWeight; i++ {
			if d.blocks[i].element == d.blocks[from].element { // not the insertions between lines
				p.class[i] = max(p.class[i], near)
			}
		}
		from = end
	}
}

// lines returns the end and the weight of the run of lines at from, all in one element.
func (p *picker) lines(d *document, from int) (to int, weight int32) {
	for to = from; to < len(p.class) && p.isLine(d, to) && d.blocks[to].element == d.blocks[from].element; to++ {
		weight += d.blocks[to].weight - d.blocks[to].link
	}
	return to, weight
}

// behindGap returns the index of the next lines in the element of the block before end, or 0.
// Labels and links of other elements may precede these lines, if too few to end a part of the page.
func (p *picker) behindGap(d *document, end int) int {
	element, links := d.blocks[end-1].element, 0
	for i := end; i < min(len(p.class), end+2*wallLinks); i++ {
		switch {
		case d.blocks[i].element == element && p.isLine(d, i):
			return i
		case d.blocks[i].element == element || p.class[i] != short && p.class[i] != linky:
			return 0
		case p.class[i] == linky:
			if links++; links >= wallLinks {
				return 0
			}
		}
	}
	return 0
}

func (p *picker) isLine(d *document, i int) bool {
	b := &d.blocks[i]
	return p.class[i] <= good && b.kind == paragraph && !b.rights && b.weight > 0
}

// class returns the class of a block, ignoring its neighbours.
func (b *block) class() class {
	text := b.weight - b.link
	switch {
	case b.weight == 0:
		return short
	case b.link*2 > b.weight:
		return linky
	case b.rights || b.kind == heading:
		return short
	case b.kind == preformatted && text >= nearWeight*2:
		return good
	case text >= plainWeight || text >= goodWeight && b.marks >= 2:
		if b.link*5 > b.weight*2 {
			return near
		}
		return good
	case text >= nearWeight && b.ended && b.marks >= 1:
		return near
	}
	return short
}

// isTeaser reports whether a paragraph stands alone between links, including one to its full page.
func (p *picker) isTeaser(d *document, i int, before class) bool {
	b := &d.blocks[i]
	if b.weight-b.link > teaser || b.kind == preformatted {
		return false
	}
	after := beside
	for j := i + 1; j < len(p.class) && j < i+4; j++ {
		if p.class[j] != short || d.blocks[j].kind == heading {
			after = p.class[j]
			break
		}
	}
	return before == linky && (after == linky || after == beside)
}
