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
