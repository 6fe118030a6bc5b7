package html

import (
	"bytes"
	"strings"
)

// A kind is the namespace of an element in foreign content, and what that means for its contents.
type kind uint8

const (
	svg kind = 1 << iota
	math
	textPoint // of MathML, only glyphs start in it
	htmlPoint // only HTML starts in it
	svgPoint  // an svg starts in it, as in HTML
	unshown   // readers do not see it

	foreign = svg | math // neither is HTML
	points  = textPoint | htmlPoint | svgPoint
)

// inner is an open element of foreign content: the outermost svg or math, or an element in it. A
// key of a longer name has its last letters.
type inner struct {
	name key
	kind kind
}

// openedBits is the binary logarithm of the number of counts of open elements; few names share one.
const openedBits = 10

// count returns the index of a name in scanner.opened.
func (k key) count() uint64 { return uint64(k) * 0x8b8b39109a983805 >> (64 - openedBits) }

// kinds maps each of the names to a kind.
func kinds(of map[kind]string) map[key]kind {
	all := map[key]kind{}
	for k, names := range of {
		for _, name := range strings.Fields(names) {
			all[keyOf(name)] = k
		}
	}
	return all
}

var (
	svgKey, fontKey, tableKey, pKey, brKey = keyOf("svg"), keyOf("font"), keyOf("table"), keyOf("p"), keyOf("br")

	inSVG  = kinds(map[kind]string{htmlPoint: "foreignobject desc title"})
	inMath = kinds(map[kind]string{textPoint: "mi mo mn ms mtext", unshown: "annotation", unshown | svgPoint: "annotation-xml"})
	glyphs = kinds(map[kind]string{math: "mglyph malignmark"})

	// breakouts are elements of HTML that end foreign content.
	breakouts = kinds(map[kind]string{foreign: `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head
		hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`})
	// tableParts end all in them with their end tags.
	tableParts = kinds(map[kind]string{foreign: "caption table tbody td tfoot th thead tr"})
	// neverOpen are elements without contents, and those that count only in a table or around a page.
	neverOpen = kinds(map[kind]string{foreign: `area base basefont bgsound br col embed frame hr image img input keygen link meta
		param source track wbr body caption colgroup frameset head html tbody td tfoot th thead tr`})
)

// isForeign reports whether the innermost element is of SVG or MathML.
func (s *scanner) isForeign() bool {
	return len(s.inner) > 0 && s.inner[len(s.inner)-1].kind&foreign != 0
}

// startInner opens an element of SVG or MathML, or returns false for one of HTML (HTML standard,
// 13.2.6 and 13.2.6.5).
func (s *scanner) startInner(name key, t tag, a *attributes) bool {
	k := s.namespace(name)
	if k != 0 && (breakouts[name] != 0 || name == fontKey && a.font) {
		s.leave()
		k = 0
	}
	switch {
	case k == svg:
		k |= inSVG[name]
	case k == math:
		k |= inMath[name]
		if k&svgPoint != 0 && (bytes.EqualFold(a.encoding, []byte("text/html")) || bytes.EqualFold(a.encoding, []byte("application/xhtml+xml"))) {
			k |= htmlPoint
		}
	case t == root && name == svgKey:
		k = svg | unshown
	case t == root:
		k = math
	default:
		s.startHTML(name, t, a)
		return false
	}
	if !a.empty {
		s.push(name, k)
	}
	return true
}

// namespace returns svg, math or, for HTML, 0: the namespace of an element that starts here.
func (s *scanner) namespace(name key) kind {
	if len(s.inner) == 0 {
		return 0
	}
	k := s.inner[len(s.inner)-1].kind
	if k&htmlPoint != 0 || k&textPoint != 0 && glyphs[name] == 0 || k&svgPoint != 0 && name == svgKey {
		return 0
	}
	return k & foreign
}

// startHTML opens an element of HTML in foreign content.
func (s *scanner) startHTML(name key, t tag, a *attributes) {
	if len(s.inner) == 0 || neverOpen[name] != 0 || a.empty && s.xml {
		return
	}
	if paragraph <= t && t <= dialog {
		s.endParagraph()
	}
	s.push(name, 0)
}

// endParagraph ends a p of HTML in foreign content, as the start of a block does.
func (s *scanner) endParagraph() {
	for i := len(s.inner) - 1; i >= 0 && s.inner[i].kind&foreign == 0; i-- {
		if s.inner[i].name == pKey {
			s.cut(i)
			return
		}
	}
}

// push opens an element, unless it is too deep.
func (s *scanner) push(name key, k kind) {
	if len(s.inner) >= maxDepth {
		return
	}
	if len(s.inner) > 0 {
		k |= s.inner[len(s.inner)-1].kind & unshown
	}
	s.inner = append(s.inner, inner{name, k})
	s.d.unshown = k&unshown != 0
}

// endInner ends elements of foreign content. It returns false if the tag may end an element of HTML.
func (s *scanner) endInner(name key) bool {
	if s.isForeign() && (name == pKey || name == brKey) {
		s.leave()
	}
	for i := len(s.inner) - 1; i >= 0 && s.inner[i].kind&foreign != 0; i-- {
		if s.inner[i].name == name {
			s.cut(i)
			return true
		}
	}
	for i := len(s.inner) - 1; i >= 0; i-- { // by the rules of HTML
		switch e := &s.inner[i]; {
		case e.kind&points != 0 && tableParts[name] == 0:
			return true // it ends nothing around it
		case e.kind&foreign != 0:
		case e.name == name:
			s.cut(i)
			return false
		case e.name == tableKey && tableParts[name] != 0:
			return false
		}
	}
	if len(s.inner) > 0 && s.opened[name.count()] == 0 {
		return true
	}
	s.cut(0)
	return false
}

// leave ends foreign elements up to HTML, or to one that HTML may start in.
func (s *scanner) leave() {
	n := len(s.inner)
	for n > 0 && s.inner[n-1].kind&foreign != 0 && s.inner[n-1].kind&(textPoint|htmlPoint) == 0 {
		n--
	}
	s.cut(n)
}

// cut ends all elements of foreign content but the n outermost.
func (s *scanner) cut(n int) {
	s.inner = s.inner[:n]
	s.d.unshown = n > 0 && s.inner[n-1].kind&unshown != 0
}
