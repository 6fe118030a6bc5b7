package html

import (
	"bytes"

	"golang.org/x/net/html"
)

// scanner scans the tags and text of a page like the tokenizer of the HTML standard (13.2.5), as
// far as needed here. The tests compare it with the tokenizer of x/net. That tokenizer allocates
// for each attribute: a run over 112 MB of pages takes 2.5 s with it, not 0.6. After a tag of many
// attributes it takes longer for every tag, so its time is not linear.
type scanner struct {
	page     []byte
	at       int // offset of the next byte
	xml      bool
	titleEnd int // offset of the next end tag of a title, or noEnd
	d        *document

	lower lowered // buffer
	foreign
}

const noEnd = int(^uint(0) >> 1)

// run scans a page into d.
func (s *scanner) run(page []byte, d *document) {
	*s = scanner{page: page, d: d, xml: bytes.HasPrefix(bytes.TrimLeft(page, "\ufeff \t\r\n"), []byte("<?xml"))}
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

// longText is the most text decoded at once, in bytes.
const longText = 1 << 16

// text decodes the character references in text, and passes the text on.
func (s *scanner) text(text []byte) {
	for len(text) > 0 {
		cut := min(len(text), longText)
		if i := bytes.LastIndexByte(text[:cut], '&'); cut < len(text) && i > 0 {
			cut = i // not within a reference
		}
		s.d.put(unescaped(text[:cut]))
		text = text[cut:]
	}
}

// markup scans the markup that begins with the < at s.at.
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

// isBlank marks the bytes that are white space in tags, endsName those that end a name.
var (
	isBlank  = [256]bool{' ': true, '\t': true, '\n': true, '\f': true, '\r': true}
	endsName = [256]bool{' ': true, '\t': true, '\n': true, '\f': true, '\r': true, '/': true, '>': true}
)

// passTo skips past the next occurrence of end.
func (s *scanner) passTo(from int, end string) {
	_, rest, _ := bytes.Cut(s.page[from:], []byte(end))
	s.at = len(s.page) - len(rest)
}

// declaration skips a comment, a doctype or the like. It passes on character data of foreign content.
func (s *scanner) declaration() {
	rest := s.page[s.at:]
	const data = "<![CDATA["
	if bytes.HasPrefix(rest, []byte(data)) && s.roots > 0 {
		text, _, _ := bytes.Cut(rest[len(data):], []byte("]]>"))
		s.d.put(text)
		s.passTo(s.at+len(data), "]]>")
		return
	}
	if !bytes.HasPrefix(rest, []byte("<!--")) {
		s.passTo(s.at+2, ">")
		return
	}
	for from := s.at + len("<!"); ; from++ { // <!--> and <!---> are complete comments
		i := bytes.Index(s.page[from:], []byte("--"))
		if i < 0 {
			s.at = len(s.page)
			return
		}
		from += i
		after := s.page[from+2:]
		if from >= s.at+len("<!--") {
			after = bytes.TrimPrefix(after, []byte("!"))
		}
		if len(after) > 0 && after[0] == '>' {
			s.at = len(s.page) - len(after) + 1
			return
		}
	}
}

// endTag scans an end tag, or a comment that looks like one.
func (s *scanner) endTag() {
	switch rest := s.page[s.at:]; {
	case len(rest) < 3:
		s.text(rest)
		s.at = len(s.page)
	case !isLetter(rest[2]):
		s.passTo(s.at+2, ">")
	default:
		name := s.name(s.at + 2)
		lower := s.lower.of(name)
		t := tagOf[string(lower)]
		unseen := s.roots > 0 && s.endForeign(lower, t)
		switch {
		case !s.readAttributes(s.at+2+len(name), nil), unseen:
		case t == verbatim:
			s.d.end(preformatted)
		default:
			s.d.end(t)
		}
	}
}

// startTag scans a start tag and, for a raw text element, its text.
func (s *scanner) startTag() {
	name := s.name(s.at + 1)
	t := tagOf[string(s.lower.of(name))]
	var a attributes
	if !s.readAttributes(s.at+1+len(name), &a) || (t == root || s.roots > 0) && s.startForeign(s.lower.of(name), t, a.empty) {
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
	default:
		s.d.start(t, a.roleOr(t), t != inline && t != rule && a.isHiding())
		if empty && isElement[t] {
			s.d.end(t)
		}
	}
}

// name returns the element name at from.
func (s *scanner) name(from int) []byte {
	to := from
	for to < len(s.page) && !endsName[s.page[to]] {
		to++
	}
	return s.page[from:to]
}

// rawText scans the text of a raw text element. It drops a title without an end tag, which would
// extend to the end of the page.
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
		s.d.setTitle(unescaped(text[:min(len(text), longText)]))
	case verbatim:
		s.d.start(preformatted, preformatted, false)
		s.d.put(text)
	}
}

// rawEnd returns the offset of the end tag of a raw text element, or noEnd.
func (s *scanner) rawEnd(t tag, name []byte) int {
	if len(name) == len("plaintext") && name[0]|0x20 == 'p' {
		return noEnd
	}
	if bytes.EqualFold(name, []byte("script")) {
		return s.scriptEnd()
	}
	if t != title {
		return indexEndTag(s.page, s.at, name)
	}
	if s.titleEnd < s.at {
		s.titleEnd = indexEndTag(s.page, s.at, name)
	}
	return s.titleEnd
}

// indexEndTag returns the offset of the next end tag of an element, or noEnd.
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

// isTag reports whether rest, which follows < or </, begins a tag of that name.
func isTag(rest, name []byte) bool {
	if len(rest) <= len(name) || !bytes.EqualFold(rest[:len(name)], name) {
		return false
	}
	c := rest[len(name)]
	return c == '>' || c == '/' || isBlank[c]
}

// scriptEnd returns the offset of a script's end tag, or noEnd. In a comment, an end tag first
// closes a script that began there.
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
			from++ // its dashes may end the comment too
		case escaped && isTag(rest[1:], script):
			double = true
		}
		from++
	}
}

// unescaped returns text with its character references decoded (HTML standard, 13.2.5.72).
func unescaped(text []byte) []byte {
	if bytes.IndexByte(text, '&') < 0 {
		return text
	}
	return []byte(html.UnescapeString(string(text)))
}
