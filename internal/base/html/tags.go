package html

import (
	"bytes"
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
	root   // of foreign content
	body
	title
	silent   // hidden raw text
	verbatim // shown raw text
	tags
)

// tagOf maps the names of HTML elements to their tags.
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
		unseen:       {"template", "select", "datalist", "object", "canvas", "audio", "video"},
		root:         {"svg", "math"},
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

// A key packs a short name in lower case into a number, the first letter highest. A zero byte
// becomes 1, which no known name contains, so no two names have the same key.
type key uint64

// longestKey is the length of the longest name with a key, longestName that of the longest name.
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

// place returns the index of a key in named, which no other name shares. Tags are looked up more
// often than anything else. The factor was found by trial.
func (k key) place() uint64 { return uint64(k) * 0x8b8b39109a983805 >> (64 - 8) }

var named [1 << 8]namedTag

type namedTag struct {
	key key
	tag tag
}

// inName maps the bytes of names to those of keys, and bytes that end the name of a tag to 0.
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
	seen         uint8 // one bit for each attribute
	href, hidden bool
	font         bool // the colour, face or size of a font
	role, style  []byte
	encoding     []byte
	empty        bool // the tag ends with a slash
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

// Keys of the attributes that matter.
var (
	hrefKey   = keyOf("href")
	roleKey   = keyOf("role")
	styleKey  = keyOf("style")
	hiddenKey = keyOf("hidden")

	colorKey, faceKey, sizeKey, encodingKey = keyOf("color"), keyOf("face"), keyOf("size"), keyOf("encoding")
)

// set records an attribute that matters.
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
	case colorKey, faceKey, sizeKey:
		a.font = true
	case encodingKey:
		if bit = 8; a.seen&bit == 0 {
			a.encoding = unescaped(value)
		}
	}
	a.seen |= bit
}

// roleOr returns the tag for the role attribute, or t.
func (a *attributes) roleOr(t tag) tag {
	if len(a.role) == 0 || len(a.role) > 32 || !isElement[t] || t == unseen {
		return t
	}
	if role, known := roles[string(bytes.ToLower(bytes.TrimSpace(a.role)))]; known {
		return role
	}
	return t
}

// isHiding reports whether the attributes hide the content of the element.
func (a *attributes) isHiding() bool {
	if a.hidden || len(a.style) == 0 {
		return a.hidden
	}
	style := bytes.ToLower(bytes.Join(bytes.Fields(a.style), nil))
	return bytes.Contains(style, []byte("display:none")) || bytes.Contains(style, []byte("visibility:hidden"))
}
