// Package charset makes UTF-8 of pages and texts in any encoding that browsers know. It trusts these
// signs, in this order:
//
//   - a byte order mark;
//   - valid UTF-8;
//   - a fitting multi-byte encoding declared by the header or in the page itself;
//   - a declared single-byte one, unless it is windows-1252 or latin-1, which servers declare of
//     anything;
//   - an encoding detected from the bytes;
//   - windows-1252.
//
// Text that fits none of these is an error. Wrongly decoded text is worse than none: it is never
// found to be a copy of anything, and the reason stays hidden.
//
// Names of encodings are those of the WHATWG Encoding Standard, in lower case, with two
// more: gbk and gb2312 are decoded as gb18030, which has all of their characters, and
// hz-gb-2312 is known.
package charset

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"
)

// ErrUnknown is the error for bytes in no known encoding, such as those of an image
// or a compressed file.
var ErrUnknown = errors.New("text in no encoding that is known: none is declared that fits, and the bytes look like none")

// Decode appends body as UTF-8 to dst, without a byte order mark, and returns the name of its
// encoding. contentType is the value of the HTTP header, and may be empty. Wrong characters in body,
// fewer than one in a thousand if an encoding was declared, become U+FFFD. On an error, which is
// ErrUnknown, dst is returned as it was.
//
// It takes time in proportion to body, and memory for dst alone: at most three bytes for
// one of body.
func Decode(dst, body []byte, contentType string) (text []byte, name string, err error) {
	if text, name := decodeMarked(dst, body); name != "" {
		return text, name, nil
	}
	switch { // looks like ASCII, and is not
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

// decodeDeclared decodes by the first declaration that fits, multi-byte ones first.
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

// isBinary reports whether there are more control characters than in any text: more than one byte
// in 500, not counting white space, escape and end of file.
func isBinary(body []byte) bool {
	controls := 0
	for _, c := range body {
		controls += int(control[c])
	}
	return controls*500 > len(body)
}

// control has a 1 for the control characters that do not occur in texts.
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
