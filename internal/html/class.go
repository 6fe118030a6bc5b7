package html

// The least weights of blocks. Six letters with the space are a word of English, two characters of
// Chinese.
const (
	goodWeight  = 80  // a paragraph with marks in it
	plainWeight = 200 // one without
	nearWeight  = 20  // a sentence
	teaser      = 700 // at most; 140 characters of Chinese weigh 420
	leastMain   = 140 // an article
	sureMain    = 600 // an article believed whatever is around it
	mostEntry   = 40  // less: a link may be the entry of a menu; headlines and names of goods are longer
	leastName   = 12  // a heading that identifies the page
)

// A class is the judgement of a block by itself.
type class uint8

const (
	short  class = iota // a heading, a label, an item
	near                // a sentence
	good                // a paragraph
	linky               // mostly links
	teased              // a paragraph alone between links
	beside              // outside of the article, as the page itself marks it
)

// classify sets the class of each block, by its own measures and its neighbours'.
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

// restore takes teasers for paragraphs after all if they stand in one element with as many
// paragraphs.
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

// The least number and common weight of lines that form text together, such as poems, dialogue and
// figures.
const (
	fewLines    = 3
	linesWeight = 150
)

// joinLines takes lines that stand together in one element for text. A menu, even one without
// links, is a list. A site's insertions between the paragraphs of an article, which have elements
// of their own, stand between its lines too.
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
			if d.blocks[i].element == d.blocks[from].element { // not the blocks between them
				p.class[i] = max(p.class[i], near)
			}
		}
		from = end
	}
}

// lines returns the end and the weight of the lines that stand one behind the other in the element
// of the first.
func (p *picker) lines(d *document, from int) (to int, weight int32) {
	for to = from; to < len(p.class) && p.isLine(d, to) && d.blocks[to].element == d.blocks[from].element; to++ {
		weight += d.blocks[to].weight - d.blocks[to].link
	}
	return to, weight
}

// behindGap returns the index of more lines in the element of the one before end, 0 if there are
// none. The lines may come behind labels and links of other elements, if these are too few to end a
// part of the page.
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

// class returns the class of a block by itself.
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

// isTeaser reports whether a paragraph stands alone between links. One of those leads to the page
// it advertises.
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
