package html

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Limits of what is remembered of a page. What goes beyond is added to the last block,
// or to the element around it.
const (
	maxBlocks   = 1 << 18
	maxElements = 1 << 18
	maxDepth    = 400
	maxTitle    = 1 << 10 // bytes
)

// A block is a stretch of text without the beginning or end of a paragraph in it.
type block struct {
	from, to int32 // in the text
	element  int32
	weight   int32 // letters; see weigh
	link     int32 // weight of what is in links
	marks    int32 // commas, full stops and the like
	kind     tag   // of the innermost of heading, preformatted, item, row; else paragraph
	ended    bool  // the last character ends a sentence
	rights   bool  // it has a notice of copyright
}

// An element is one that holds blocks.
type element struct {
	parent int32
	first  int32 // the block it begins with
	tag    tag
	region region
}

// A region says what the elements around a block say of it.
type region uint8

const (
	outside region = 1 << iota // of the article: a menu, a foot, an aside
	inside                     // an article, section or main part is around
	hidden
)

// open is an element that was not ended yet.
type open struct {
	element int32
	same    int32 // place in the stack of the next outer one of the same tag, -1: none
	tag     tag
}

// document is what is known of a page.
type document struct {
	text     []byte
	title    []byte
	blocks   []block
	elements []element // in the order of their start; the first is the page

	stack []open
	outer [tags]int32 // place in the stack of the innermost of each tag, -1
	over  [tags]int   // elements beyond the limits that are open

	from       int // of the block that is being read
	starter    int32
	space      bool // white space before the next character
	lineSpace  bool // with a line feed in it
	breaks     int  // line breaks before the next character
	tab        bool // a cell ended
	lines      bool // the block has line breaks
	cells      bool // it has cells
	pre        int  // open pre
	preDepth   int  // of the stack where the innermost began
	atPre      bool // nothing of a pre was read yet
	head       tag  // heading, if the block is in one
	inTitle    bool
	titleDone  bool
	linked     bool // in a link
	linkFrom   int  // from there on text is in the link
	linkDepth  int  // of the stack where it began
	linkWeight int32
}

func (d *document) reset() {
	*d = document{
		text: d.text[:0], title: d.title[:0], blocks: d.blocks[:0],
		elements: append(d.elements[:0], element{parent: -1, tag: body}), stack: append(d.stack[:0], open{same: -1, tag: body}),
	}
	for t := range d.outer {
		d.outer[t] = -1
	}
}

// What is kept for the next page: as many bytes of text, and as many blocks and elements, as
// most pages have. There may be an extractor for each of many workers.
const (
	keptRoom  = 256 << 10
	keptCount = 4 << 10
)

// shrink lets go of room that a page out of the ordinary needed.
func (d *document) shrink() {
	if cap(d.text) > keptRoom {
		d.text = nil
	}
	if cap(d.blocks) > keptCount {
		d.blocks = nil
	}
	if cap(d.elements) > keptCount {
		d.elements = nil
	}
}

func (d *document) top() *open { return &d.stack[len(d.stack)-1] }

// here is the element that is open.
func (d *document) here() int32 { return d.top().element }

// isHidden reports whether text is not shown here.
func (d *document) isHidden() bool { return d.elements[d.here()].region&hidden != 0 }

// isDeaf reports whether text that comes is not wanted.
func (d *document) isDeaf() bool { return d.isHidden() && !d.inTitle }

// start is the start tag of an element. By its attributes it may have another role, and be
// hidden.
func (d *document) start(t, role tag, isHidden bool) {
	switch t {
	case inline, body:
		return
	case title:
		d.inTitle = !d.titleDone && !d.isHidden()
		return
	case lineBreak:
		d.breaks++
		return
	case link:
		d.endLink()
		d.linked, d.linkFrom, d.linkDepth = true, len(d.text), len(d.stack)
		return
	case cell:
		d.startCell()
	default:
		d.endBlock()
		d.head = 0
	}
	d.imply(t)
	switch {
	case isElement[t] || isHidden:
		d.push(t, role, isHidden)
	case t == heading:
		d.head = heading
	case t == preformatted:
		d.pre++
		d.atPre, d.preDepth = true, len(d.stack)
	}
}

// end is the end tag of an element.
func (d *document) end(t tag) {
	switch {
	case t == title:
		if d.inTitle {
			d.inTitle, d.titleDone = false, len(d.title) > 0
			d.space = false
		}
	case t == link:
		d.endLink()
	case t == cell:
		d.tab = true
		d.pop(t)
	case t == inline || t == lineBreak || t == silent || t == body:
	default:
		d.endBlock()
		switch t {
		case heading:
			d.head = 0
		case preformatted:
			d.pre = max(0, d.pre-1)
		}
		d.pop(t)
	}
}

// startCell ends the block, unless it is the short beginning of a row of a table.
func (d *document) startCell() {
	d.tab = d.tab || d.outer[cell] > d.outer[table] // its end tag may be left out
	if length := len(d.text) - d.from; length > 0 && (!d.tab || d.lines || length > 200 || d.pre > 0) {
		d.endBlock()
	} else if length > 0 {
		d.cells = true
	}
}

// imply ends those elements that the start of another ends.
func (d *document) imply(t tag) {
	if hiddenParagraph := d.outer[paragraph]; hiddenParagraph > d.outer[cell] {
		d.popTo(int(hiddenParagraph))
	}
	switch t {
	case item:
		if d.outer[item] > max(d.outer[list], d.outer[cell]) {
			d.popTo(int(d.outer[item]))
		}
	case row, cell:
		if within := d.outer[table]; d.outer[t] > within {
			d.popTo(int(d.outer[t]))
		}
	}
}

// push opens an element.
func (d *document) push(t, role tag, isHidden bool) {
	if len(d.stack) >= maxDepth || len(d.elements) >= maxElements {
		d.over[t]++
		return
	}
	around := &d.elements[d.here()]
	r := around.region
	switch role {
	case header:
		if r&inside == 0 {
			r |= outside
		}
	case footer, aside, navigation, dialog:
		r |= outside
	case article:
		r |= inside
	case mainPart:
		r = r&^outside | inside
	case unseen:
		isHidden = true
	}
	if isHidden {
		r |= hidden
	}
	d.elements = append(d.elements, element{
		parent: d.here(), first: int32(len(d.blocks)), tag: role, region: r,
	})
	d.stack = append(d.stack, open{element: int32(len(d.elements) - 1), same: d.outer[t], tag: t})
	d.outer[t] = int32(len(d.stack) - 1)
}

// pop closes the innermost element of a tag and all in it. In a cell of a table it is
// looked for no farther out.
func (d *document) pop(t tag) {
	if d.over[t] > 0 {
		d.over[t]--
		return
	}
	at := d.outer[t]
	if at < 0 || t != table && t != row && t != cell && at < d.outer[cell] {
		return
	}
	d.popTo(int(at))
}

// popTo closes all elements from a place in the stack on.
func (d *document) popTo(at int) {
	for len(d.stack) > at && at > 0 {
		o := d.top()
		if int(o.element) == len(d.elements)-1 && d.elements[o.element].first == int32(len(d.blocks)) &&
			(d.from == len(d.text) || d.starter != o.element) {
			d.elements = d.elements[:o.element] // nothing is in it
		}
		d.outer[o.tag] = o.same
		d.stack = d.stack[:len(d.stack)-1]
	}
	if d.linked && len(d.stack) < d.linkDepth {
		d.endLink()
	}
	if d.pre > 0 && len(d.stack) < d.preDepth {
		d.pre = 0
	}
}

// finish ends what is open at the end of the page.
func (d *document) finish() {
	d.endBlock()
	d.title = trimmed(d.title)
}

// put is text.
func (d *document) put(s []byte) {
	switch {
	case d.inTitle:
		d.putTitle(s)
	case d.isHidden():
	case d.pre > 0:
		d.putLines(s)
	default:
		d.putWords(s)
	}
}

// classes of bytes for putWords.
const (
	visible = iota
	blank
	lineFeed
	perhapsBlank // the first byte of a no-break space
)

var classOf = [256]uint8{' ': blank, '\t': blank, '\r': lineFeed, '\f': blank, '\n': lineFeed, 0xc2: perhapsBlank}

// putWords appends text, white space as single spaces.
func (d *document) putWords(s []byte) {
	for i := 0; i < len(s); {
		switch classOf[s[i]] {
		case lineFeed:
			d.space, d.lineSpace = true, true
			i++
			continue
		case blank:
			d.space = true
			i++
			continue
		case perhapsBlank:
			if i+1 < len(s) && s[i+1] == 0xa0 {
				d.space = true
				i += 2
				continue
			}
		}
		word := i
		for i++; i < len(s) && (classOf[s[i]] == visible || classOf[s[i]] == perhapsBlank && !(i+1 < len(s) && s[i+1] == 0xa0)); i++ {
		}
		if d.space || d.breaks > 0 || d.tab || len(d.text) == d.from {
			d.separate(s[word:i])
		}
		d.text = append(d.text, s[word:i]...)
	}
}

// separate puts what stands between the block's text and the next word.
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

// isWide reports whether a line of the source ends between characters of Chinese or
// Japanese, between which browsers show nothing (CSS Text 3, 4.1.3).
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

// putLines appends text as it stands.
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

func (d *document) putTitle(s []byte) {
	for _, c := range s {
		if len(d.title) >= maxTitle {
			return
		}
		if classOf[c] == blank || classOf[c] == lineFeed {
			d.space = true
			continue
		}
		if d.space && len(d.title) > 0 {
			d.title = append(d.title, ' ')
		}
		d.space = false
		d.title = append(d.title, c)
	}
}

// trimmed is without a character that was cut in two at its end.
func trimmed(b []byte) []byte {
	for i := 1; i <= 3 && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

func (d *document) endLink() {
	if d.linked {
		d.countLink()
		d.linked = false
	}
}

// countLink adds what was read of a link in this block.
func (d *document) countLink() {
	if from := max(d.linkFrom, d.from); from < len(d.text) {
		d.linkWeight += weigh(d.text[from:])
	}
	d.linkFrom = len(d.text)
}

// endBlock ends the block that is being read.
func (d *document) endBlock() {
	if d.linked {
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

// kind is what the block is part of.
func (d *document) kind() tag {
	switch {
	case d.pre > 0:
		return preformatted
	case d.head != 0:
		return heading
	case d.cells || d.outer[cell] >= 0 && d.outer[cell] > d.outer[division]:
		return row
	case d.outer[item] >= 0 && d.outer[item] > d.outer[division]:
		return item
	}
	return paragraph
}
