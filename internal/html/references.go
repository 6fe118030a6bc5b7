package html

import (
	"bytes"
	"strconv"
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
	end := bytes.IndexByte(text[:min(len(text), longest)], ';')
	if end < 0 {
		return 0, 0
	}
	digits, base := text[len("&#"):end], 10
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		digits, base = digits[1:], 16
	}
	code, err := strconv.ParseUint(string(digits), base, 16)
	if r = rune(code); err != nil || !(0x20 <= r && r < 0x7f || 0xa0 <= r && r < 0xd800) {
		return 0, 0
	}
	return r, end + 1
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
