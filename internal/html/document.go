package html

// Limits on the data remembered of a page. The excess is added to the last block, or to the element
// around it.
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
	link     int32 // weight of the text in links
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

// A region is the role that the elements around a block give it.
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

// document is the data known of a page.
type document struct {
	text     []byte
	title    []byte
	blocks   []block
	elements []element // in the order of their start; the first is the page

	stack []open
	outer [tags]int32 // place in the stack of the innermost of each tag, -1
	over  [tags]int   // open elements beyond the limits

	from       int // of the block being read
	starter    int32
	space      bool // white space before the next character
	lineSpace  bool // with a line feed in it
	breaks     int  // line breaks before the next character
	tab        bool // a cell ended
	lines      bool // the block has line breaks
	cells      bool // it has cells
	pre        int  // open pre
	preDepth   int  // of the stack at the start of the innermost
	atPre      bool // nothing of a pre was read yet
	head       tag  // heading, if the block is in one
	inTitle    bool
	titleDone  bool
	linked     bool // in a link
	linkFrom   int  // from there on text is in the link
	linkDepth  int  // of the stack at its start
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

// here returns the open element.
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
