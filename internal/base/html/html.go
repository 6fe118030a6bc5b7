// Package html extracts the text of web pages: all that a reader sees, or the article alone.
//
// It scans the tokens of a page once. It builds no tree, because hostile pages make that take more
// than linear time. The tokens form blocks: paragraphs, headings, list items and table rows. Of the
// elements around the blocks, only the data needed to find the text is kept. Class names do not
// count, so an article comes out alike on any site.
//
// docs/web.md has the rules and their results.
package html

// A Mode selects the part of a page to extract.
type Mode int

const (
	// Main is the title and the article, without menus, sidebars, teasers, links to other pages,
	// and footers. Without one it is the visible text outside parts marked as menus and the like.
	Main Mode = iota
	// Visible is the title and all text that a reader sees.
	Visible
)

// An Extractor extracts the text of pages, one after the other. It is not safe for concurrent use.
type Extractor struct {
	mode Mode
	page scanner
	doc  document
	pick picker
}

// New returns an Extractor for the given mode.
func New(mode Mode) *Extractor { return &Extractor{mode: mode} }

// IsList reports whether the last page had no article and links were over a quarter of its text.
// Such pages of one site share its menus, so only identical ones count as copies.
func (e *Extractor) IsList() bool { return e.mode == Main && e.pick.list }

// Append appends the text of a page in UTF-8 to dst: the title, then the blocks, each ended by a
// line feed. Within a block, white space becomes one space, and tabs separate the cells of a row.
// Line breaks, the lines of pre, and bytes that are not UTF-8 are kept.
//
// room is a buffer for all text of the page, and is not kept. A buffer as large as the page
// suffices for all but rare pages, which take the rest from the heap. Append writes dst after its
// last read of the page, so dst may share the page's memory.
//
// The time is proportional to the size of the page, whatever it contains. Afterwards the Extractor
// keeps at most a few hundred KiB for the next page.
func (e *Extractor) Append(dst, page, room []byte) []byte {
	e.doc.text = room
	e.doc.reset()
	e.page.run(page, &e.doc)
	e.doc.endBlock()
	if len(e.doc.title) > 0 {
		dst = append(append(dst, e.doc.title...), '\n')
	}
	if e.mode == Main {
		e.pick.choose(&e.doc)
	}
	for i := range e.doc.blocks {
		if b := &e.doc.blocks[i]; e.mode == Visible || e.pick.keep[i] {
			dst = append(append(dst, e.doc.text[b.from:b.to]...), '\n')
		}
	}
	e.doc.text = nil
	if len(e.doc.blocks) > keptCount || len(e.doc.elements) > keptCount {
		e.doc.blocks, e.doc.elements, e.pick = nil, nil, picker{}
	}
	return dst
}

// keptCount is the number of blocks and elements for which an Extractor keeps memory between pages.
// Most pages need no more. Each of many workers may have an Extractor.
const keptCount = 4 << 10

// Limits on the data kept about a page. Excess text joins the last block, and excess elements count
// as part of the element around them.
const (
	maxBlocks   = 1 << 18
	maxElements = 1 << 18
	maxDepth    = 400
	maxTitle    = 1 << 10 // bytes
)

// A block is a run of text that no paragraph boundary divides.
type block struct {
	from, to int32 // offsets in document.text
	element  int32
	weight   int32 // letters; see weigh
	link     int32 // weight of the text in links
	marks    int32 // commas, full stops and the like
	kind     tag   // heading, preformatted, item or row, else paragraph
	ended    bool  // the text ends a sentence
	rights   bool  // the text is a copyright notice
}

// An element is an HTML element that can hold blocks.
type element struct {
	parent int32
	first  int32 // index of its first block
	tag    tag
	region region
}

// A region is the set of roles that a block has from the elements around it.
type region uint8

const (
	outside region = 1 << iota // in a menu, a footer or an aside
	inside                     // in an article or main part
	hidden
)

// open is an element whose end has not been read.
type open struct {
	element int32
	same    int32 // stack index of the next outer element of the same tag, or -1
	tag     tag
}

// document holds the blocks and elements of a page, and the state of its reader.
type document struct {
	text     []byte
	title    []byte
	blocks   []block
	elements []element // in order of their start tags; the first is the page

	stack []open
	outer [tags]int32 // stack index of the innermost element of each tag, or -1
	over  [tags]int   // open elements beyond the limits

	from       int // offset of the current block
	starter    int32
	space      bool // white space precedes the next character
	lineSpace  bool // the white space has a line feed
	breaks     int  // number of line breaks before the next character
	tab        bool // a cell ended
	lines      bool // the block has line breaks
	cells      bool // the block has cells
	pre        int  // number of open pre elements
	preDepth   int  // depth of the stack at the start of the innermost pre
	atPre      bool // the pre has no text yet
	head       bool // the block is part of a heading
	unshown    bool // in an svg or the like
	linkFrom   int  // offset of the link's text
	linkDepth  int  // depth of the stack at the start of the open link, or 0
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

func (d *document) top() *open { return &d.stack[len(d.stack)-1] }

// here returns the innermost open element.
func (d *document) here() int32 { return d.top().element }

// isHidden reports whether the innermost open element is hidden.
func (d *document) isHidden() bool { return d.unshown || d.elements[d.here()].region&hidden != 0 }

// start handles a start tag. Its attributes may give the element another role, or hide it.
func (d *document) start(t, role tag, isHidden bool) {
	switch {
	case d.unshown || t == inline || t == body:
		return
	case t == lineBreak:
		d.breaks++
		return
	case t == link:
		d.endLink()
		d.linkFrom, d.linkDepth = len(d.text), len(d.stack)
		return
	case t == cell:
		d.startCell()
	default:
		d.endBlock()
		d.head = t == heading && !isHidden
	}
	d.imply(t)
	switch {
	case isElement[t] || isHidden:
		d.push(t, role, isHidden)
	case t == preformatted:
		d.pre++
		d.atPre, d.preDepth = true, len(d.stack)
	}
}

// end handles an end tag.
func (d *document) end(t tag) {
	switch {
	case d.unshown:
	case t == link:
		d.endLink()
	case t == cell:
		d.tab = true
		d.pop(t)
	case t == inline || t == lineBreak || t == silent || t == root || t == body || t == title:
	default:
		d.endBlock()
		d.head = d.head && t != heading
		if t == preformatted {
			d.pre = max(0, d.pre-1)
		}
		d.pop(t)
	}
}

// startCell ends the block unless it is the short beginning of a table row.
func (d *document) startCell() {
	d.tab = d.tab || d.outer[cell] > d.outer[table] // the end tag is optional
	if length := len(d.text) - d.from; length > 0 && (!d.tab || d.lines || length > 200 || d.pre > 0) {
		d.endBlock()
	} else if length > 0 {
		d.cells = true
	}
}

// imply ends the elements that a start tag ends implicitly.
func (d *document) imply(t tag) {
	if hiddenParagraph := d.outer[paragraph]; hiddenParagraph > d.outer[cell] {
		d.popTo(int(hiddenParagraph))
	}
	within := d.outer[table]
	if t == item {
		within = max(d.outer[list], d.outer[cell])
	}
	if (t == item || t == row || t == cell) && d.outer[t] > within {
		d.popTo(int(d.outer[t]))
	}
}

// push opens an element, or counts it in d.over beyond the limits.
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

// pop closes the innermost element of a tag, and all elements in it. In a table cell, only end tags
// of tables, rows and cells close an element around the cell.
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

// popTo closes the open elements from stack index at on.
func (d *document) popTo(at int) {
	for len(d.stack) > at && at > 0 {
		o := d.top()
		if int(o.element) == len(d.elements)-1 && d.elements[o.element].first == int32(len(d.blocks)) &&
			(d.from == len(d.text) || d.starter != o.element) {
			d.elements = d.elements[:o.element] // it is empty
		}
		d.outer[o.tag] = o.same
		d.stack = d.stack[:len(d.stack)-1]
	}
	if len(d.stack) < d.linkDepth {
		d.endLink()
	}
	if d.pre > 0 && len(d.stack) < d.preDepth {
		d.pre = 0
	}
}
