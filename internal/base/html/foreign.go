package html

// foreign is the state of SVG and MathML (HTML standard, 13.2.6.5), as far as they hide text. Readers
// see none of an svg and of the annotations in math.
type foreign struct {
	roots  int    // open svg and math
	unseen string // name of the element that readers do not see, or ""
	open   int    // open elements of that name
	points int    // open elements in it that hold HTML
	links  bool   // it has links
}

// A part is what an element does in SVG or MathML.
type part uint8

const (
	ofForeign part = iota
	note           // of math
	point          // holds HTML
	breakout       // of HTML; it ends an svg or an annotation around it
)

var parts = invert(map[part]string{
	note: "annotation annotation-xml", point: "foreignobject desc title",
	breakout: `b big blockquote body br button caption center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr
		ol p pre ruby s small span strong strike sub sup table tbody td tfoot th thead tr tt u ul var`,
})

// startForeign follows a start tag, and reports whether readers do not see its element.
func (s *scanner) startForeign(name []byte, t tag, empty bool) bool {
	p := parts[string(name)]
	switch {
	case p == breakout && s.unseen != "" && s.points == 0:
		s.leave()
	case s.unseen != "":
		if empty {
			return true
		}
		if string(name) == s.unseen {
			s.open++
		} else if p == point {
			s.points++
		}
		s.links = s.links || string(name) == "a"
	case t == root && !empty:
		s.roots++
		if string(name) == "svg" {
			s.unseen, s.open = "svg", 1
		}
	case p == note && !empty:
		s.unseen, s.open = string(name), 1
		if s.unseen == "annotation-xml" {
			s.points = 1
		}
	}
	s.d.unshown = s.unseen != ""
	return s.d.unshown || t == root
}

// endForeign follows an end tag, and reports whether it ends nothing that readers see.
func (s *scanner) endForeign(name []byte, t tag) bool {
	p := parts[string(name)]
	switch {
	case s.unseen != "" && string(name) == s.unseen:
		if s.open--; s.open > 0 {
			return true
		}
		fallthrough
	case string(name) == "math" && s.unseen != "svg":
		roots := s.roots
		s.leave()
		if s.roots = roots; t == root {
			s.roots--
		}
		return true
	case s.unseen != "" && s.points == 0 && (p == breakout || string(name) == "a" && s.d.linkDepth > 0 && !s.links):
		s.leave()
	case p == point && s.points > 0:
		s.points--
	}
	return s.d.unshown
}

// leave ends all elements of SVG and MathML.
func (s *scanner) leave() { s.foreign, s.d.unshown = foreign{}, false }
