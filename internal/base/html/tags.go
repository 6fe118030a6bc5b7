package html

import (
	"bytes"
	"strings"
)

// A tag is a kind of element that affects the position of text. All other elements are inline.
type tag uint8

const (
	inline tag = iota
	link
	lineBreak
	rule // only ends a block
	paragraph
	heading
	preformatted
	item // of a list
	row
	cell
	table
	list
	quote
	division // div, section and the like
	article
	mainPart
	header
	footer
	aside
	navigation
	dialog
	unseen // its content is not shown
	root   // svg or math
	body
	title
	silent   // hidden raw text
	verbatim // shown raw text
	tags
)

// tagOf maps the names of HTML elements to their tags.
var tagOf = invert(map[tag]string{
	link:         "a button",
	lineBreak:    "br",
	rule:         "hr tbody thead tfoot frameset legend optgroup",
	paragraph:    "p figcaption address summary caption",
	heading:      "h1 h2 h3 h4 h5 h6",
	preformatted: "pre listing",
	item:         "li dt dd",
	row:          "tr",
	cell:         "td th",
	table:        "table",
	list:         "ul ol dl menu dir",
	quote:        "blockquote figure",
	division:     "div section center form fieldset details hgroup search",
	article:      "article",
	mainPart:     "main",
	header:       "header",
	footer:       "footer",
	aside:        "aside",
	navigation:   "nav",
	dialog:       "dialog",
	unseen:       "template select datalist object canvas audio video",
	root:         "svg math",
	body:         "body html",
	title:        "title",
	silent:       "script style noscript iframe noembed noframes textarea",
	verbatim:     "xmp plaintext",
})

// invert maps each of the words to its key.
func invert[K comparable](words map[K]string) map[string]K {
	of := map[string]K{}
	for k, all := range words {
		for word := range strings.FieldsSeq(all) {
			of[word] = k
		}
	}
	return of
}

// lowered is a name in lower case, of at most its length.
type lowered [len("annotation-xml")]byte

// of returns a name in lower case, or nothing for one longer than all known names.
func (l *lowered) of(name []byte) []byte {
	if len(name) > len(l) {
		return nil
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		l[i] = c
	}
	return l[:len(name)]
}

// isElement marks the tags that always open an element of the document.
var isElement = [tags]bool{
	item: true, row: true, cell: true, table: true, list: true, quote: true, division: true, article: true,
	mainPart: true, header: true, footer: true, aside: true, navigation: true, dialog: true, unseen: true,
}

// roles maps values of the role attribute to tags with the same meaning.
var roles = map[string]tag{
	"navigation": navigation, "menu": navigation, "menubar": navigation, "tablist": navigation, "toolbar": navigation,
	"banner": header, "contentinfo": footer, "complementary": aside, "search": aside,
	"dialog": dialog, "alertdialog": dialog, "main": mainPart, "article": article,
}

// attributes holds the attributes that matter. Of several with one name, the first counts.
type attributes struct {
	href, empty         bool   // empty: the tag ends with a slash
	role, style, hidden []byte // nil without the attribute
}

// readAttributes reads a tag's attributes and skips its end. It returns false if there is no end.
func (s *scanner) readAttributes(i int, a *attributes) bool {
	page := s.page
	slash := -1 // index of the last slash outside an attribute
	for i < len(page) {
		switch c := page[i]; {
		case c == '>':
			if a != nil {
				a.empty = slash == i-1
			}
			s.at = i + 1
			return true
		case c == '/':
			slash = i
			i++
		case isBlank[c]:
			i++
		default:
			from := i
			for i++; i < len(page) && page[i] != '=' && !endsName[page[i]]; i++ {
			}
			name, value := page[from:i], []byte(nil)
			if value, i = s.value(i); a != nil {
				a.set(s.lower.of(name), value)
			}
		}
	}
	s.at = len(page)
	return false
}

// value returns the value of the attribute whose name ends at i, and the offset after it.
func (s *scanner) value(i int) (value []byte, next int) {
	page := s.page
	next = i
	for i < len(page) && isBlank[page[i]] {
		i++
	}
	if i >= len(page) || page[i] != '=' {
		return nil, next
	}
	for i++; i < len(page) && isBlank[page[i]]; i++ {
	}
	if i >= len(page) || page[i] == '>' {
		return nil, i
	}
	if quote := page[i]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(page[i+1:], quote)
		if end < 0 {
			return nil, len(page)
		}
		return page[i+1 : i+1+end], i + end + 2
	}
	from := i
	for i < len(page) && page[i] != '>' && !isBlank[page[i]] {
		i++
	}
	return page[from:i], i
}

// set records an attribute that matters.
func (a *attributes) set(name, value []byte) {
	if value == nil {
		value = []byte{}
	}
	switch {
	case string(name) == "href":
		a.href = true
	case string(name) == "role" && a.role == nil:
		a.role = value
	case string(name) == "style" && a.style == nil:
		a.style = value
	case string(name) == "hidden" && a.hidden == nil:
		a.hidden = value
	}
}

// roleOr returns the tag for the role attribute, or t.
func (a *attributes) roleOr(t tag) tag {
	if len(a.role) == 0 || !isElement[t] || t == unseen {
		return t
	}
	if role, known := roles[string(bytes.ToLower(bytes.TrimSpace(unescaped(a.role))))]; known {
		return role
	}
	return t
}

// isHiding reports whether the attributes hide the content of the element.
func (a *attributes) isHiding() bool {
	if a.hidden != nil && string(unescaped(a.hidden)) != "until-found" {
		return true
	}
	if len(a.style) == 0 {
		return false
	}
	style := bytes.ToLower(bytes.Join(bytes.Fields(unescaped(a.style)), nil))
	return bytes.Contains(style, []byte("display:none")) || bytes.Contains(style, []byte("visibility:hidden"))
}
