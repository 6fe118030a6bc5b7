// Package html finds the text of web pages: all that a reader sees, or the article
// alone.
//
// It goes over the tokens of a page once and builds no tree, for which hostile pages need more than
// linear time. From the tokens it makes blocks, which are paragraphs, headings, items of lists and
// rows of tables. Of the elements around the blocks it keeps only the data needed to find the text.
// No names of classes count, so that one article comes out alike on any site.
//
// docs/web.md has the rules and their results.
package html

// A Mode selects the wanted part of a page.
type Mode int

const (
	// Main is the title and the article, without menus, side bars, teasers, links to other pages,
	// and feet. For a page without an article it is the visible text outside elements marked as
	// menus and the like.
	Main Mode = iota
	// Visible is the title and all text that a reader sees.
	Visible
)

// An Extractor finds the text of pages, one after the other. It is used by one goroutine
// at a time.
type Extractor struct {
	mode Mode
	page scanner
	doc  document
	pick picker
}

// New returns an extractor.
func New(mode Mode) *Extractor { return &Extractor{mode: mode} }

// IsList reports whether the last page had no article and was given with its links, making up more
// than a quarter. Two such pages of one site share their menus, so their similarity means nothing:
// only identical ones are copies.
func (e *Extractor) IsList() bool { return e.mode == Main && e.pick.list }

// Append appends the text of a page, which is in UTF-8, to dst: the title, then the blocks, each
// ended by a line feed. In a block white space is one space. Line breaks and the lines of pre are
// kept, and the cells of a row are divided by tabs. Bytes that are not UTF-8 stay as they are.
//
// It has room for the text before it is chosen, and forgets the room afterwards. As many bytes as the
// page has are enough except for rare pages; these take the rest from the heap. When dst is written
// to, the page is not read any more, so dst may be in its memory.
//
// It takes time in proportion to the page, however it is made. It holds a few hundred KiB at most
// afterwards, to use again for the next page.
func (e *Extractor) Append(dst, page, room []byte) []byte {
	e.doc.text = room
	e.doc.reset()
	e.page.run(page, &e.doc)
	e.doc.finish()
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
		*e = Extractor{mode: e.mode}
	}
	return dst
}

// keptCount is how many blocks and elements an extractor has room for from one page to the next, as
// many as most pages have. There may be an extractor for each of many workers.
const keptCount = 4 << 10
