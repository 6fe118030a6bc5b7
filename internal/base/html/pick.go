package html

import "bytes"

// picker finds the article among the blocks of a page.
type picker struct {
	keep  []bool // of each block
	class []class
	wall  []bool // whether a block divides groups of paragraphs
	sum   []sum  // of each element
	home  int32  // element of the heaviest paragraph; see groups
	list  bool   // there is no article, and links are much of the kept text
}

// sum holds the totals of an element.
type sum struct {
	prose       int64 // weight of paragraphs
	first, last int32 // range of its blocks, last excluded
	largest     int32 // the child with the most prose
	balance     int32 // number of paragraphs minus teasers
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

// sized returns n zero values, reusing s if it is large enough.
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

// prose returns the weight of a block as evidence for the article.
func (p *picker) prose(b *block, c class) int64 {
	switch c {
	case good:
		return int64(b.weight - b.link)
	case near:
		return int64(b.weight-b.link) / 2
	}
	return 0
}

// descend returns the innermost element that has nearly all of the prose. From the page inwards, it
// enters the child with the most prose while the rest is little, or lies behind links.
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

// standsApart reports whether an element has at least half of the prose of the one around it. The
// prose beside it, up to links, must be less than a tenth as much.
func (p *picker) standsApart(d *document, around, in int32) bool {
	a, s := &p.sum[around], &p.sum[in]
	if s.prose*2 < a.prose {
		return false
	}
	beside := p.proseUpTo(d, int(s.first), int(a.first)-1, -1, s) + p.proseUpTo(d, int(s.last)-1, int(a.last), 1, s)
	return beside*10 < s.prose
}

// reach limits the number of blocks that a search away from an element looks at.
const reach = 64

// proseUpTo returns the prose from an element's edge to the next links, 0 if links end the element.
func (p *picker) proseUpTo(d *document, from, to, step int, s *sum) (prose int64) {
	// Inwards to the first prose. A child is asked about only if it has at most 82% of the prose, so
	// nested elements cannot make this quadratic.
	for i := from; int(s.first) <= i && i < int(s.last) && p.prose(&d.blocks[i], p.class[i]) == 0; i -= step {
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

// start returns the heaviest main part if it has over a third of the prose, else the page.
func (p *picker) start(d *document) int32 {
	best := int32(0)
	for i := range d.elements {
		if d.elements[i].tag == mainPart && p.sum[i].prose*3 > p.sum[0].prose && (best == 0 || p.sum[i].prose > p.sum[best].prose) {
			best = int32(i)
		}
	}
	return best
}

// mark keeps the blocks of the article within an element, and returns their weight.
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

// leadLines is the most blocks from a title to the first paragraph: names, dates, a caption.
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

// trim narrows a range of blocks to paragraphs, without small groups behind links at its ends, such
// as comments and imprints. It spares groups in home, and all if none has half of the prose.
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

// groups returns the weights of all paragraphs and of the heaviest group. It sets home to the
// element of that group's heaviest paragraph.
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

// wallLinks is the least number of links in a row that divide a page. An article may have fewer.
const wallLinks = 3

// build marks the blocks that divide groups of paragraphs. These are teasers, blocks outside the
// article, and links in a row, with or without labels between them.
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

// edge returns the first paragraph, counted from one end, of a group heavier than small or in home.
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

// belongs reports whether a block that says little by itself is part of the article. A heading must
// precede a paragraph, an item or a row stand beside one, any other block between two.
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

// neighbour reports whether a paragraph follows i before index to, past short blocks alone.
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

// isArticle reports whether the kept text can be the subject: long enough, and not a notice beside
// a list of links. Menu entries are no such links if a heading repeats the page's title.
func (p *picker) isArticle(d *document, kept int64) bool {
	if kept < leastMain {
		return false
	}
	var links, entries, rest int64
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

// fallBack keeps the visible text, without menus and the like if other text remains. The page is a
// list if links are more than a quarter of the kept text.
func (p *picker) fallBack(d *document) {
	left := int64(0)
	for i := range d.blocks {
		b := &d.blocks[i]
		p.keep[i] = d.elements[b.element].region&outside == 0
		if p.keep[i] {
			left += int64(b.weight)
		}
	}
	links, all := int64(0), int64(0)
	for i := range d.blocks {
		p.keep[i] = p.keep[i] || left < nearWeight/2
		if p.keep[i] {
			all += int64(d.blocks[i].weight)
		}
		if p.keep[i] && p.class[i] == linky {
			links += int64(d.blocks[i].weight)
		}
	}
	p.list = links*4 > all
}
