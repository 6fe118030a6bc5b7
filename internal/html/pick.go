package html

import "bytes"

// picker finds the article among the blocks of a page.
type picker struct {
	keep  []bool // of each block
	class []class
	wall  []bool // whether it divides groups
	sum   []sum  // of each element
	home  int32  // the element in which the article's heaviest paragraphs stand
	list  bool   // there is no article, and much of the kept text is links
}

// sum holds the totals of an element.
type sum struct {
	prose       int64 // weight of paragraphs
	first, last int32 // blocks; last is one behind
	largest     int32 // the element in it with the most prose
	balance     int32 // paragraphs less teasers
}

// choose decides which blocks to keep.
func (p *picker) choose(d *document) {
	n := len(d.blocks)
	p.list = false
	p.keep, p.class, p.wall = sized(p.keep, n), sized(p.class, n), sized(p.wall, n)
	for _, regions := range []bool{true, false} {
		p.classify(d, regions)
		p.add(d)
		kept := p.mark(d, p.descend(d))
		if p.isArticle(d, kept) {
			return
		}
	}
	p.fallBack(d)
}

// sized is a slice of n zero values.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// add sums up the contents of each element.
func (p *picker) add(d *document) {
	p.sum = sized(p.sum, len(d.elements))
	for i := range p.sum {
		p.sum[i].first, p.sum[i].largest = int32(len(d.blocks)), -1
	}
	for i := range d.blocks {
		b := &d.blocks[i]
		s := &p.sum[b.element]
		s.first, s.last = min(s.first, int32(i)), max(s.last, int32(i+1))
		s.prose += p.prose(b, p.class[i])
	}
	for i := len(p.sum) - 1; i > 0; i-- {
		s := &p.sum[i]
		around := &p.sum[d.elements[i].parent]
		around.first, around.last = min(around.first, s.first), max(around.last, s.last)
		around.prose += s.prose
		if around.largest < 0 || s.prose > p.sum[around.largest].prose {
			around.largest = int32(i)
		}
	}
}

// prose is how much a block speaks for there being the article.
func (p *picker) prose(b *block, c class) int64 {
	switch c {
	case good:
		return int64(b.weight - b.link)
	case near:
		return int64(b.weight-b.link) / 2
	}
	return 0
}

// descend returns the innermost element that has nearly all of the prose. It goes from the page
// inwards, to the inner element with the most, as long as the remainder is little, or lies behind
// links.
func (p *picker) descend(d *document) int32 {
	at := p.start(d)
	for {
		next := p.sum[at].largest
		if next < 0 || p.sum[next].prose == 0 {
			return at
		}
		switch d.elements[next].tag {
		case list, quote, item, unseen, paragraph:
			return at
		}
		if p.sum[next].prose*100 < p.sum[at].prose*82 && !p.standsApart(d, at, next) {
			return at
		}
		at = next
	}
}

// standsApart reports whether an element has more than half of the prose of the one around it. The
// prose next to it there, up to links, must also be less than a tenth as much.
func (p *picker) standsApart(d *document, around, in int32) bool {
	a, s := &p.sum[around], &p.sum[in]
	if s.prose*2 < a.prose {
		return false
	}
	beside := p.proseUpTo(d, int(s.first), int(a.first)-1, -1, s) + p.proseUpTo(d, int(s.last)-1, int(a.last), 1, s)
	return beside*10 < s.prose
}

// reach is how many blocks are looked at to find links, at most.
const reach = 64

// proseUpTo returns the prose outside of an element, from its edge on to the next links. Links at
// the edge inside the element count too.
func (p *picker) proseUpTo(d *document, from, to, step int, s *sum) (prose int64) {
	for i := from; i != to && (i-from)*step < reach; i -= step { // inwards
		if i < int(s.first) || i >= int(s.last) || p.prose(&d.blocks[i], p.class[i]) > 0 {
			break
		}
		if p.wall[i] {
			return 0
		}
	}
	for i := from + step; i != to && (i-from)*step < reach; i += step {
		if p.wall[i] {
			break
		}
		prose += p.prose(&d.blocks[i], p.class[i])
	}
	return prose
}

// start returns the element to begin with: the main part, if the page names one with prose in it,
// or else the page.
func (p *picker) start(d *document) int32 {
	best := int32(0)
	for i := range d.elements {
		if d.elements[i].tag == mainPart && p.sum[i].prose*3 > p.sum[0].prose && (best == 0 || p.sum[i].prose > p.sum[best].prose) {
			best = int32(i)
		}
	}
	return best
}

// mark keeps the blocks of the article in an element, and returns their weight.
func (p *picker) mark(d *document, in int32) (weight int64) {
	clear(p.keep)
	first, last := p.trim(d, int(p.sum[in].first), int(p.sum[in].last))
	for i := first; i < last; i++ {
		switch p.class[i] {
		case good, near:
			p.keep[i] = true
		case short:
			p.keep[i] = p.belongs(d, i, first, last)
		}
		if p.keep[i] {
			weight += int64(d.blocks[i].weight)
		}
	}
	p.lead(d, first)
	return weight
}

// leadLines are how many blocks may stand from the title of an article to its first
// paragraph: names, dates, a caption.
const leadLines = 6

// lead keeps the headings before the first paragraph.
func (p *picker) lead(d *document, first int) {
	for i := first - 1; i >= max(0, first-leadLines); i-- {
		switch {
		case p.class[i] == linky || p.class[i] == teased || p.class[i] == good:
			return
		case d.blocks[i].kind == heading:
			p.keep[i] = p.class[i] == short
		}
	}
}

// trim narrows a range of blocks to the paragraphs. From both ends it takes away small groups of
// paragraphs behind links, such as comments and imprints. It spares those in the same element as
// most of the prose, which has to be in one group.
func (p *picker) trim(d *document, from, to int) (first, last int) {
	total, largest := p.groups(d, from, to)
	small := largest / 4
	if largest*2 < total {
		small = 0
	}
	first, last = p.edge(d, from, to, 1, small), p.edge(d, to-1, from-1, -1, small)+1
	if first >= last {
		return to, to
	}
	return first, last
}

// groups returns the weight of all paragraphs, and of those of the heaviest group. It sets home to
// the element of that group's heaviest paragraph.
func (p *picker) groups(d *document, from, to int) (total, largest int64) {
	group, heaviest, home := int64(0), int64(0), int32(-1)
	for i := from; i < to; i++ {
		if p.wall[i] {
			group, heaviest = 0, 0
			continue
		}
		w := p.prose(&d.blocks[i], p.class[i])
		if w > heaviest {
			heaviest, home = w, d.blocks[i].element
		}
		group += w
		total += w
		if group > largest {
			largest, p.home = group, home
		}
	}
	return total, largest
}

// wallLinks is how many links in a row mark the boundary between two parts of a page. Fewer may be
// an article's own.
const wallLinks = 3

// build finds the blocks that divide groups of paragraphs: links in a row, with labels between them
// or not, teasers, and blocks outside of the article.
func (p *picker) build() {
	for from := 0; from < len(p.class); {
		to, links, wall := from, 0, false
		for ; to < len(p.class) && p.class[to] != good && p.class[to] != near; to++ {
			switch p.class[to] {
			case linky:
				links++
			case teased, beside:
				wall = true
			}
		}
		for i := from; i < to; i++ {
			p.wall[i] = (wall || links >= wallLinks) && p.class[i] != short
		}
		from = max(to, from+1)
	}
}

// edge returns the first paragraph of a group of some size, going from one end to the other.
func (p *picker) edge(d *document, from, to, step int, small int64) int {
	at, group := -1, int64(0)
	for i := from; i != to; i += step {
		if p.wall[i] {
			at, group = -1, 0
			continue
		}
		if w := p.prose(&d.blocks[i], p.class[i]); w > 0 {
			if at < 0 {
				at = i
			}
			if group += w; group > small || d.blocks[i].element == p.home {
				return at
			}
		}
	}
	return to
}

// belongs reports whether a block that says little by itself stands among the article's
// paragraphs: a heading before one, an item or a row beside one, any other between two.
func (p *picker) belongs(d *document, i, first, last int) bool {
	b := &d.blocks[i]
	if b.rights || b.weight == 0 {
		return false
	}
	before, after := p.neighbour(i, first-1, -1), p.neighbour(i, last, 1)
	switch b.kind {
	case heading:
		return after
	case item, row, preformatted:
		return before || after
	}
	if b.element == p.home && b.weight-b.link >= goodWeight/2 {
		return before || after
	}
	return before && after
}

// neighbour reports whether the next block with a class of its own is a paragraph, going on to some
// place.
func (p *picker) neighbour(i, to, step int) bool {
	for range reach {
		if i += step; i == to {
			return false
		}
		switch p.class[i] {
		case good, near:
			return true
		case linky, teased, beside:
			return false
		}
	}
	return true
}

// isArticle reports whether the kept text can be the subject of the page: enough, and not a notice
// beside a list of links. If the title of a page is its heading too, the entries of menus do not
// count as such links.
func (p *picker) isArticle(d *document, kept int64) bool {
	if kept < leastMain {
		return false
	}
	links, entries, rest := int64(0), int64(0), int64(0)
	for i := range d.blocks {
		b := &d.blocks[i]
		if p.class[i] == linky || p.class[i] == teased {
			links += int64(b.weight)
		}
		if p.class[i] == linky && b.weight < mostEntry && b.kind != heading {
			entries += int64(b.weight)
		}
		if p.class[i] != beside && !b.rights {
			rest += int64(b.weight - b.link)
		}
	}
	return kept >= sureMain || kept*2 >= rest && (kept*3 >= links || kept*3 >= links-entries && p.isNamed(d))
}

// isNamed reports whether the page's title contains a kept heading.
func (p *picker) isNamed(d *document) bool {
	for i := range d.blocks {
		b := &d.blocks[i]
		if p.keep[i] && b.kind == heading && b.weight >= leastName && bytes.Contains(d.title, d.text[b.from:b.to]) {
			return true
		}
	}
	return false
}

// fallBack keeps the visible text. It leaves out parts marked as menus and the like if anything
// remains without them.
func (p *picker) fallBack(d *document) {
	left := int64(0)
	for i := range d.blocks {
		b := &d.blocks[i]
		p.keep[i] = d.elements[b.element].region&outside == 0
		if p.keep[i] {
			left += int64(b.weight)
		}
	}
	if left < nearWeight/2 {
		for i := range p.keep {
			p.keep[i] = true
		}
	}
	p.list = p.isList(d)
}

// isList reports whether more than a quarter of the kept text is links.
func (p *picker) isList(d *document) bool {
	links, all := int64(0), int64(0)
	for i := range d.blocks {
		if b := &d.blocks[i]; p.keep[i] {
			all += int64(b.weight)
			if p.class[i] == linky {
				links += int64(b.weight)
			}
		}
	}
	return links*4 > all
}
