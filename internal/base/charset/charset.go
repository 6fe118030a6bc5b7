// Package charset converts pages and texts to UTF-8 from any encoding that browsers know. It trusts
// these signs, in this order:
//
//   - a byte order mark;
//   - valid UTF-8;
//   - a fitting multi-byte encoding declared by the header or the page;
//   - a declared single-byte one, except windows-1252 and latin-1, which are declared for anything;
//   - an encoding detected from the bytes;
//   - windows-1252.
//
// Text that fits none of these is an error. Wrongly decoded text is worse than none: it never
// matches a copy, and the reason stays hidden.
//
// Encodings are named as in the WHATWG Encoding Standard, in lower case. gbk and gb2312 are decoded
// as gb18030, which has all of their characters. hz-gb-2312 and UTF-32 are supported too.
package charset

import (
	"bytes"
	"errors"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// ErrUnknown is returned for bytes in no known encoding, such as an image or a compressed file.
var ErrUnknown = errors.New("text in an unknown encoding: none that fits is declared, and none was recognized by its bytes")

// Decode appends body as UTF-8 to dst, without a byte order mark, and returns the name of its
// encoding. contentType is the value of the HTTP header, and may be empty. Malformed characters
// become U+FFFD; if an encoding was declared, they are fewer than one in a thousand. The only error
// is ErrUnknown; dst is then returned unchanged.
//
// Decode takes linear time, and memory for dst alone: at most three bytes for one of body.
func Decode(dst, body []byte, contentType string) (text []byte, name string, err error) {
	if text, name := decodeMarked(dst, body); name != "" {
		return text, name, nil
	}
	switch { // looks like ASCII, but is not
	case bytes.IndexByte(body, 0) >= 0:
		return decodeWide(dst, body)
	case bytes.IndexByte(body, 0x1b) >= 0:
		if text, name := decodeEscaped(dst, body); name != "" {
			return text, name, nil
		}
	}
	if isBinary(body) {
		return dst, "", ErrUnknown
	}
	declared := declarations(body, contentType)
	if slices.Contains(declared, hz) {
		if text, ok := decodeMulti(dst, body, hz, declaredFaults); ok {
			return text, hz, nil
		}
	}
	if utf8.Valid(body) {
		return append(dst, body...), "utf-8", nil
	}
	if text, name := decodeDeclared(dst, body, declared); name != "" {
		return text, name, nil
	}
	if text, name := decodeDetected(dst, body); name != "" {
		return text, name, nil
	}
	return dst, "", ErrUnknown
}

// decodeDeclared decodes by the first declaration that fits, and tries multi-byte ones first.
func decodeDeclared(dst, body []byte, declared []string) (text []byte, name string) {
	for _, name := range declared {
		if byName[name] != nil && name != hz && !isWide(name) {
			if text, ok := decodeMulti(dst, body, name, declaredFaults); ok {
				return text, name
			}
		}
	}
	for _, name := range declared {
		if name != "windows-1252" && singles[name] != nil {
			if text, ok := decodeSingle(dst, body, singles[name]); ok {
				return text, name
			}
		}
	}
	return dst, ""
}

// isBinary reports whether body has more control characters than any text: more than one byte in
// 500. White space, escape and end of file do not count.
func isBinary(body []byte) bool {
	controls := 0
	for _, c := range body {
		controls += int(control[c])
	}
	return controls*500 > len(body)
}

// control is 1 for the control characters that do not occur in texts.
var control = func() (t [256]uint8) {
	for c := range 0x20 {
		switch c {
		case '\t', '\n', '\v', '\f', '\r', 0x1a, 0x1b:
		default:
			t[c] = 1
		}
	}
	t[0x7f] = 1
	return t
}()

// prescan is the number of bytes searched for the declaration of a page. Browsers search 1024, but
// pages that begin with long comments and scripts declare it later.
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
			names = appendName(names, name) // not UTF-16: its meta element would be unreadable
		}
	}
}

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

// valueOf returns the value after a key and an equals sign, without quotation marks.
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

func appendName(names []string, label string) []string {
	name := nameOf(strings.Trim(label, " \t\r\n\"'"))
	if name == "" || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// nameOf returns the name of the encoding with a label, or "".
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
