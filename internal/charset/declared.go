package charset

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"
)

// prescan is how many bytes of a page are searched for its declaration. Browsers look at 1024;
// pages with long comments and scripts at their beginning declare it later.
const prescan = 4096

// declarations returns the names of the declared and known encodings, the header's first.
func declarations(body []byte, contentType string) (names []string) {
	if contentType != "" {
		_, params, err := mime.ParseMediaType(contentType)
		label := params["charset"]
		if err != nil && label == "" { // a header such as text/html; charset=gbk; charset
			label = valueOf([]byte(strings.ToLower(contentType)), "charset")
		}
		names = appendName(names, label)
	}
	head := bytes.ToLower(withoutComments(body[:min(len(body), prescan)]))
	if xml, found := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml")); found {
		end := max(0, bytes.Index(xml, []byte("?>")))
		names = appendName(names, valueOf(xml[:end], "encoding"))
	}
	for {
		_, rest, found := bytes.Cut(head, []byte("<meta"))
		if !found {
			return names
		}
		head = rest
		element, _, _ := bytes.Cut(head, []byte(">"))
		if name := valueOf(element, "charset"); !strings.HasPrefix(name, "u") || strings.HasPrefix(name, "utf-8") || name == "utf8" {
			names = appendName(names, name) // not UTF-16: its meta could not be read
		}
	}
}

// withoutComments leaves out the comments of HTML.
func withoutComments(head []byte) (out []byte) {
	for {
		open := bytes.Index(head, []byte("<!--"))
		if open < 0 {
			return append(out, head...)
		}
		out = append(out, head[:open]...)
		_, head, _ = bytes.Cut(head[open+len("<!"):], []byte("-->"))
	}
}

// valueOf returns the text after a key and an equals sign, with or without quotation marks.
func valueOf(b []byte, key string) string {
	for {
		_, rest, found := bytes.Cut(b, []byte(key))
		if !found {
			return ""
		}
		b = bytes.TrimLeft(rest, " \t\r\n")
		if value, found := bytes.CutPrefix(b, []byte("=")); found {
			value = bytes.TrimLeft(value, " \t\r\n\"'")
			if end := bytes.IndexAny(value, " \t\r\n\"';/>"); end >= 0 {
				value = value[:end]
			}
			return string(value)
		}
	}
}

// appendName appends the name of the encoding with that label, if there is one.
func appendName(names []string, label string) []string {
	name := nameOf(strings.Trim(label, " \t\r\n\"'"))
	if name == "" || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// nameOf is the name of the encoding with that label, "" if there is none.
func nameOf(label string) string {
	if label = strings.ToLower(label); label == hz || label == "hz" {
		return hz
	}
	switch _, name := charset.Lookup(label); name {
	case "gbk":
		return "gb18030"
	default:
		return name
	}
}
