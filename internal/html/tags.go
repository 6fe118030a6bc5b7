package html

import (
	"bytes"
)

// A tag is an element that matters for the position of text. All others are inline.
type tag uint8

const (
	inline tag = iota
	link
	lineBreak
	rule // between blocks, empty
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
	body
	title
	silent   // hidden text without markup
	verbatim // shown text without markup
	tags
)

// tagOf has the elements of HTML by their names.
var tagOf = map[string]tag{}

func init() {
	for t, names := range map[tag][]string{
		link:         {"a", "button"},
		lineBreak:    {"br"},
		rule:         {"hr", "tbody", "thead", "tfoot", "frameset", "legend", "optgroup"},
		paragraph:    {"p", "figcaption", "address", "summary", "caption"},
		heading:      {"h1", "h2", "h3", "h4", "h5", "h6"},
		preformatted: {"pre", "listing"},
		item:         {"li", "dt", "dd"},
		row:          {"tr"},
		cell:         {"td", "th"},
		table:        {"table"},
		list:         {"ul", "ol", "dl", "menu", "dir"},
		quote:        {"blockquote", "figure"},
		division:     {"div", "section", "center", "form", "fieldset", "details", "hgroup", "search"},
		article:      {"article"},
		mainPart:     {"main"},
		header:       {"header"},
		footer:       {"footer"},
		aside:        {"aside"},
		navigation:   {"nav"},
		dialog:       {"dialog"},
		unseen:       {"template", "select", "datalist", "svg", "math", "object", "canvas", "audio", "video", "map"},
		body:         {"body", "html"},
		title:        {"title"},
		silent:       {"script", "style", "noscript", "iframe", "noembed", "noframes", "textarea"},
		verbatim:     {"xmp", "plaintext"},
	} {
		for _, name := range names {
			tagOf[name] = t
			if len(name) <= longestKey {
				place := &named[keyOf(name).place()]
				for place.key != 0 {
					panic("html: two names in one place: choose another factor for them")
				}
				*place = namedTag{keyOf(name), t}
			}
		}
	}
}

// A key is a short name in lower case. Its letters are the bytes of a number from the highest on. A
// zero byte becomes 1, which is in no name that matters; so no two names have the same key.
type key uint64

// longestKey is the longest name that has a key, and longestName the longest of all.
const (
	longestKey  = 8
	longestName = len("blockquote")
)

func keyOf(name string) (k key) {
	for _, c := range []byte(name) {
		k = k<<8 | key(inName[c])
	}
	return k
}

// place returns the index of a key in named; no other name shares it. A tag is looked up more often
// than anything else. The factor was found by trying.
func (k key) place() uint64 { return uint64(k) * 0x8b8b39109a983805 >> (64 - 8) }

var named [1 << 8]namedTag

type namedTag struct {
	key key
	tag tag
}

// inName maps each byte of the name of a tag or attribute to its byte in the key; 0 for those that
// end the name of a tag.
var inName = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case isBlank[c] || c == '/' || c == '>':
		case 'A' <= c && c <= 'Z':
			t[c] = uint8(c) | 0x20
		default:
			t[c] = max(uint8(c), 1)
		}
	}
	return t
}()

// isElement marks the tags whose content matters.
var isElement = [tags]bool{
	item: true, row: true, cell: true, table: true, list: true, quote: true, division: true, article: true,
	mainPart: true, header: true, footer: true, aside: true, navigation: true, dialog: true, unseen: true,
}

// roles are the values of the attribute role that mean the same as a tag.
var roles = map[string]tag{
	"navigation": navigation, "menu": navigation, "menubar": navigation, "tablist": navigation, "toolbar": navigation,
	"banner": header, "contentinfo": footer, "complementary": aside, "search": aside,
	"dialog": dialog, "alertdialog": dialog, "main": mainPart, "article": article,
}

// attributes are those of a tag that matter. If several have one name, the first counts.
type attributes struct {
	seen         uint8 // one bit for each
	href, hidden bool
	role, style  []byte
	empty        bool // the tag ends with a slash
}

// readAttributes goes over the attributes of a tag and behind its end. It returns false
// if the page ends before.
func (s *scanner) readAttributes(i int, a *attributes) bool {
	page := s.page
	slash := -1 // the last one outside every attribute
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
			from, name := i, key(inName[c])
			for i++; i < len(page); i++ {
				c := inName[page[i]]
				if c == 0 || c == '=' {
					break
				}
				name = name<<8 | key(c)
			}
			short := i-from <= longestKey
			var value []byte
			value, i = s.value(i)
			if short && a != nil {
				a.set(name, value)
			}
		}
	}
	s.at = len(page)
	return false
}

// value returns the value of an attribute whose name ends at i, and the place behind that value.
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

// keys of the attributes that matter.
var (
	hrefKey   = keyOf("href")
	roleKey   = keyOf("role")
	styleKey  = keyOf("style")
	hiddenKey = keyOf("hidden")
)

// set takes an attribute down if it matters.
func (a *attributes) set(name key, value []byte) {
	bit := uint8(0)
	switch name {
	case hrefKey:
		a.href = true
	case roleKey:
		if bit = 1; a.seen&bit == 0 {
			a.role = unescaped(value)
		}
	case styleKey:
		if bit = 2; a.seen&bit == 0 {
			a.style = unescaped(value)
		}
	case hiddenKey:
		if bit = 4; a.seen&bit == 0 {
			a.hidden = string(unescaped(value)) != "until-found"
		}
	}
	a.seen |= bit
}

func unescaped(value []byte) []byte {
	if bytes.IndexByte(value, '&') < 0 {
		return value
	}
	return appendDecoded(nil, value)
}

// roleOr returns the tag that the attribute role makes of an element.
func (a *attributes) roleOr(t tag) tag {
	if len(a.role) == 0 || len(a.role) > 32 || !isElement[t] || t == unseen {
		return t
	}
	if role, known := roles[string(bytes.ToLower(bytes.TrimSpace(a.role)))]; known {
		return role
	}
	return t
}

// isHiding reports whether the content of the element is not shown.
func (a *attributes) isHiding() bool {
	if a.hidden || len(a.style) == 0 {
		return a.hidden
	}
	style := bytes.ToLower(bytes.Join(bytes.Fields(a.style), nil))
	return bytes.Contains(style, []byte("display:none")) || bytes.Contains(style, []byte("visibility:hidden"))
}
