package html

import "bytes"

// scanner goes over the tags and the text of a page, as the tokenizer of the HTML standard (13.2.5)
// does. It does only as much as is needed here. The tests hold it to the tokenizer of x/net. That
// one takes an allocation for each attribute, and alone more time than all work on the text.
// docs/web.md has the figures.
type scanner struct {
	page []byte
	at   int // of the next byte
	xml  bool
	ends [tags]int // place of the next end tag found for raw text; noEnd if there is none
	d    *document
	room []byte // of text that was decoded
}

const noEnd = int(^uint(0) >> 1)

// run hands all of a page to a document.
func (s *scanner) run(page []byte, d *document) {
	*s = scanner{page: page, d: d, room: s.room, xml: bytes.HasPrefix(bytes.TrimLeft(page, "\ufeff \t\r\n"), []byte("<?xml"))}
	for s.at < len(page) {
		if page[s.at] != '<' { // else one tag follows another
			i := bytes.IndexByte(page[s.at:], '<')
			if i < 0 {
				s.text(page[s.at:])
				break
			}
			s.text(page[s.at : s.at+i])
			s.at += i
		}
		s.markup()
	}
	s.page, s.d = nil, nil
}

// longText is how much text is decoded at once, in bytes.
const longText = 1 << 16

// text is text with references to characters.
func (s *scanner) text(text []byte) {
	for len(text) > longText {
		cut := longText
		if i := bytes.LastIndexByte(text[:cut], '&'); i > 0 {
			cut = i // not through a reference
		}
		s.piece(text[:cut])
		text = text[cut:]
	}
	s.piece(text)
}

func (s *scanner) piece(text []byte) {
	if len(text) == 0 {
		return
	}
	if bytes.IndexByte(text, '&') >= 0 && !s.d.isDeaf() {
		s.room = appendDecoded(s.room[:0], text)
		text = s.room
	}
	s.d.put(text)
}

// markup goes over the markup that begins with the next <.
func (s *scanner) markup() {
	rest := s.page[s.at:]
	switch {
	case len(rest) < 2:
		s.text(rest)
		s.at = len(s.page)
	case isLetter(rest[1]):
		s.startTag()
	case rest[1] == '!':
		s.declaration()
	case rest[1] == '?':
		s.passTo(s.at+2, ">")
	case rest[1] == '/':
		s.endTag()
	default:
		s.text(rest[:1])
		s.at++
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isBlank has the bytes of white space in tags.
var isBlank = [256]bool{' ': true, '\t': true, '\n': true, '\f': true, '\r': true}

// passTo goes on behind the next occurrence of end.
func (s *scanner) passTo(from int, end string) {
	if i := bytes.Index(s.page[from:], []byte(end)); i >= 0 {
		s.at = from + i + len(end)
	} else {
		s.at = len(s.page)
	}
}

// declaration passes over a comment, a doctype or the like.
func (s *scanner) declaration() {
	rest := s.page[s.at:]
	if !bytes.HasPrefix(rest, []byte("<!--")) {
		s.passTo(s.at+2, ">")
		return
	}
	for _, whole := range []string{"<!-->", "<!--->"} {
		if bytes.HasPrefix(rest, []byte(whole)) {
			s.at += len(whole)
			return
		}
	}
	for from := s.at + len("<!--"); ; {
		i := bytes.Index(s.page[from:], []byte("--"))
		if i < 0 {
			s.at = len(s.page)
			return
		}
		from += i
		after := bytes.TrimPrefix(s.page[from+2:], []byte("!"))
		if len(after) > 0 && after[0] == '>' {
			s.at = len(s.page) - len(after) + 1
			return
		}
		from++
	}
}

// endTag goes over an end tag, or over a comment that looks like one.
func (s *scanner) endTag() {
	switch rest := s.page[s.at:]; {
	case len(rest) < 3:
		s.text(rest)
		s.at = len(s.page)
	case !isLetter(rest[2]):
		s.passTo(s.at+2, ">")
	default:
		name, key := s.name(s.at + 2)
		if s.readAttributes(s.at+2+len(name), nil) {
			s.d.end(endOf(lookUp(name, key)))
		}
	}
}

// endOf returns the tag that an end tag ends.
func endOf(t tag) tag {
	if t == verbatim {
		return preformatted
	}
	return t
}

// startTag goes over a start tag and, if no markup is read behind it, the text there.
func (s *scanner) startTag() {
	name, key := s.name(s.at + 1)
	t := lookUp(name, key)
	var a attributes
	if !s.readAttributes(s.at+1+len(name), &a) {
		return
	}
	empty := a.empty && s.xml
	switch {
	case t == link:
		if a.href || len(name) > 1 {
			s.d.start(link, link, false)
		}
	case t == title || t == silent || t == verbatim:
		if !empty {
			s.rawText(t, name)
		}
	case isElement[t] || t == paragraph:
		s.d.start(t, a.roleOr(t), a.isHiding())
		if empty && isElement[t] {
			s.d.end(t)
		}
	default:
		s.d.start(t, t, false)
	}
}

// lookUp is the tag of a name.
func lookUp(name []byte, k key) tag {
	if len(name) > longestKey { // few have no key
		return tagOf[string(bytes.ToLower(name[:min(len(name), longestName+1)]))]
	}
	if place := &named[k.place()]; place.key == k {
		return place.tag
	}
	return inline
}

// name is the name of an element that begins there.
func (s *scanner) name(from int) (name []byte, k key) {
	for i, c := range s.page[from:] {
		if c = inName[c]; c == 0 {
			return s.page[from : from+i], k
		}
		k = k<<8 | key(c)
	}
	return s.page[from:], k
}

// rawText goes over the text of an element in which no markup is read.
// A title that does not end would go to the end of the page; it is left out.
func (s *scanner) rawText(t tag, name []byte) {
	from := s.at
	end := s.rawEnd(t, name)
	if end == noEnd && t == title {
		return
	}
	s.at = min(end, len(s.page))
	text := s.page[from:s.at]
	switch t {
	case title:
		s.d.start(title, title, false)
		s.text(text)
	case verbatim:
		s.d.start(preformatted, preformatted, false)
		s.d.put(text)
	}
}

// rawEnd returns the place of the end tag of an element in which no markup is read.
func (s *scanner) rawEnd(t tag, name []byte) int {
	if len(name) == len("plaintext") && name[0]|0x20 == 'p' {
		return noEnd
	}
	if bytes.EqualFold(name, []byte("script")) {
		return s.scriptEnd()
	}
	if t == title {
		if s.ends[t] < s.at {
			s.ends[t] = indexEndTag(s.page, s.at, name)
		}
		return s.ends[t]
	}
	return indexEndTag(s.page, s.at, name)
}

// indexEndTag returns the place of the next end tag of an element, from some place on.
func indexEndTag(page []byte, from int, name []byte) int {
	for {
		i := bytes.Index(page[from:], []byte("</"))
		if i < 0 {
			return noEnd
		}
		from += i
		if isTag(page[from+2:], name) {
			return from
		}
		from += 2
	}
}

// isTag reports whether a tag of that name begins with some bytes.
func isTag(rest, name []byte) bool {
	if len(rest) <= len(name) || !bytes.EqualFold(rest[:len(name)], name) {
		return false
	}
	c := rest[len(name)]
	return c == '>' || c == '/' || isBlank[c]
}

// scriptEnd returns the end of a script. It ends at its end tag, unless that stands in a comment in
// which another script began.
func (s *scanner) scriptEnd() int {
	script := []byte("script")
	escaped, double := false, false
	for from := s.at; ; {
		i := bytes.IndexAny(s.page[from:], "<-")
		if i < 0 {
			return noEnd
		}
		from += i
		rest := s.page[from:]
		switch {
		case rest[0] == '-':
			if escaped && bytes.HasPrefix(rest, []byte("-->")) {
				escaped, double = false, false
			}
		case bytes.HasPrefix(rest, []byte("</")) && isTag(rest[2:], script):
			if !double {
				return from
			}
			double = false
		case !escaped && bytes.HasPrefix(rest, []byte("<!--")):
			escaped = true
			from++ // the comment may end with its own dashes
		case escaped && isTag(rest[1:], script):
			double = true
		}
		from++
	}
}
