package html

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// appendDecoded appends text with its references to characters decoded (13.2.5.72 of the
// standard). The few that pages are full of are decoded here, all others by x/net.
func appendDecoded(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return append(dst, text...)
		}
		dst, text = append(dst, text[:i]...), text[i:]
		var n int
		if dst, n = appendUsual(dst, text); n == 0 {
			n = referenceEnd(text)
			dst = append(dst, html.UnescapeString(string(text[:n]))...)
		}
		text = text[n:]
	}
}

// usual are the references found in most pages.
var usual = []struct{ reference, character string }{
	{"&lt;", "<"},
	{"&gt;", ">"},
	{"&amp;", "&"},
	{"&nbsp;", "\u00a0"},
	{"&quot;", "\""},
}

// appendUsual appends the character that a text begins with a reference to, if it is a usual
// one or a number; n is the length of the reference, 0 if it is another.
func appendUsual(dst, text []byte) (_ []byte, n int) {
	if len(text) > 1 && text[1] == '#' {
		r, n := numbered(text)
		if n > 0 {
			dst = utf8.AppendRune(dst, r)
		}
		return dst, n
	}
	for i := range usual {
		if u := &usual[i]; len(text) >= len(u.reference) && string(text[:len(u.reference)]) == u.reference {
			return append(dst, u.character...), len(u.reference)
		}
	}
	return dst, 0
}

// numbered returns the character of a numeric reference, if the number is the code of the character
// itself. Such a code is no control character and no surrogate, and the reference ends with a
// semicolon. n is its length, 0 for any other reference.
func numbered(text []byte) (r rune, n int) {
	const longest = 8 // such as &#xffff;
	base, i := rune(10), 2
	if len(text) > 2 && text[2]|0x20 == 'x' {
		base, i = 16, 3
	}
	for ; i < min(len(text), longest); i++ {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			r = r*base + rune(c-'0')
		case base == 16 && 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r*base + rune(c|0x20-'a') + 10
		case c == ';' && (0x20 <= r && r < 0x7f || 0xa0 <= r && r < 0xd800):
			return r, i + 1
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// referenceEnd returns the end of the possible reference at the beginning of a text.
func referenceEnd(text []byte) int {
	i := 1
	if i < len(text) && text[i] == '#' {
		i++
	}
	for i < len(text) && (isLetter(text[i]) || '0' <= text[i] && text[i] <= '9') {
		i++
	}
	if i < len(text) && text[i] == ';' {
		i++
	}
	return i
}
