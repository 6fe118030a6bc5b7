package charset

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
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
			label = charsetOf([]byte(strings.ToLower(contentType)))
		}
		names = appendName(names, label)
	}
	head := bytes.ToLower(withoutComments(body[:min(len(body), prescan)]))
	if xml, found := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml")); found {
		end := max(0, bytes.Index(xml, []byte("?>")))
		names = appendName(names, valueOf(xml[:end], "encoding"))
	}
	for {
		at := bytes.Index(head, []byte("<meta"))
		if at < 0 {
			return names
		}
		head = head[at+len("<meta"):]
		end := bytes.IndexByte(head, '>')
		if end < 0 {
			end = len(head)
		}
		if name := charsetOf(head[:end]); name != "" && name[0] != 'u' || strings.HasPrefix(name, "utf-8") || name == "utf8" {
			names = appendName(names, name) // not UTF-16: its meta could not be read
		}
	}
}

// withoutComments leaves out the comments of HTML.
func withoutComments(head []byte) []byte {
	open := bytes.Index(head, []byte("<!--"))
	if open < 0 {
		return head
	}
	var out []byte
	for open >= 0 {
		out = append(out, head[:open]...)
		shut := bytes.Index(head[open:], []byte("-->"))
		if shut < 0 {
			return out
		}
		head = head[open+shut+len("-->"):]
		open = bytes.Index(head, []byte("<!--"))
	}
	return append(out, head...)
}

// charsetOf is the value of charset in a meta element or header, in lower case.
func charsetOf(element []byte) string { return valueOf(element, "charset") }

// valueOf returns the text after a key and an equals sign, with or without quotation marks.
func valueOf(b []byte, key string) string {
	for {
		at := bytes.Index(b, []byte(key))
		if at < 0 {
			return ""
		}
		b = bytes.TrimLeft(b[at+len(key):], " \t\r\n")
		value, found := bytes.CutPrefix(b, []byte("="))
		if !found {
			continue
		}
		value = bytes.TrimLeft(value, " \t\r\n\"'")
		if end := bytes.IndexAny(value, " \t\r\n\"';/>"); end >= 0 {
			value = value[:end]
		}
		return string(value)
	}
}

// appendName appends the name of the encoding with that label, if there is one.
func appendName(names []string, label string) []string {
	label = strings.ToLower(strings.Trim(label, " \t\r\n\"'"))
	switch label {
	case "":
		return names
	case hz, "hz":
		if slices.Contains(names, hz) {
			return names
		}
		return append(names, hz)
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return names
	}
	name, err := htmlindex.Name(e)
	switch {
	case err != nil:
		return names
	case name == "gbk":
		name = "gb18030"
	}
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
