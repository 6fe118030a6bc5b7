package html

import "bytes"

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
