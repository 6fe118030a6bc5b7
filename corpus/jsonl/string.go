package jsonl

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Strings of a JSON line: nearly all of its bytes, so here is the time.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the high bit set of the first byte of w, and perhaps of bytes
// after it, that ends a run of plain characters: a quote, a backslash, a
// control character, a byte above ASCII. Where it is 0 there is none. A borrow
// of a subtraction reaches only bytes after a special one.
func special(w uint64) uint64 {
	control := w - ones*0x20
	quote := (w ^ ones*'"') - ones
	backslash := (w ^ ones*'\\') - ones
	return (control | quote | backslash | w) & highs
}

// scanString checks the string whose first byte after the quote is b[i], and
// returns the index of its closing quote and whether it has escapes.
func scanString(b []byte, i int) (end int, escaped bool, err error) {
	for {
		for i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return i, escaped, syntax(i, "the line ends inside a string")
		}
		switch c := b[i]; {
		case c == '"':
			return i, escaped, nil
		case c == '\\':
			escaped = true
			if i+1 < len(b) && unescaped[b[i+1]] != 0 {
				i += 2
				continue
			}
			i, err = scanUnicode(b, i)
		case c < 0x20:
			err = syntax(i, "a control character inside a string must be escaped")
		case c >= utf8.RuneSelf:
			i, err = scanWide(b, i)
		default:
			i++
		}
		if err != nil {
			return i, escaped, err
		}
	}
}

// scanUnicode checks the escape at b[i], which is none of the short ones.
func scanUnicode(b []byte, i int) (int, error) {
	switch {
	case i+1 >= len(b):
		return i, syntax(i, "the line ends inside a string")
	case b[i+1] != 'u':
		return i, syntax(i, "unknown escape in a string")
	case hex4(b[i+2:]) < 0:
		return i, syntax(i, `\u needs four hexadecimal digits`)
	}
	return i + 6, nil
}

// scanWide goes over characters above ASCII.
func scanWide(b []byte, i int) (int, error) {
	// Three bytes with a lead byte other than E0 and ED, which is all of Han
	// and kana, are valid whatever their payload: two characters at a time.
	const leads = 0xdffe // bit n: lead byte E0+n needs no further check
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		if w&0xc0c0f0c0c0f0 != 0x8080e08080e0 || leads>>(w&15)&(leads>>(w>>24&15))&1 == 0 {
			break
		}
		i += 6
	}
	for i < len(b) && b[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i, fmt.Errorf("invalid UTF-8 at byte %d", i+1)
		}
		i += size
	}
	return i, nil
}

// hex4 returns the value of the four hexadecimal digits b begins with, or -1.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// decodeString is scanString that also appends the content of the string to
// dst, in the same pass: in text with many escapes the second pass would cost
// as much as the first. A surrogate without its partner becomes U+FFFD.
func decodeString(dst, b []byte, i int) (out []byte, end int, err error) {
	// Eight bytes are stored at a time and those behind a special one written
	// over. The content never needs more room than b, but the last store does.
	j := len(dst)
	dst = slices.Grow(dst, len(b)-i+8)
	d := dst[:cap(dst)]
	pass := 0 // stops until blocks are tried again: of a text all in \u escapes there are none
	for {
		if pass--; pass < 0 {
			from := i
			if i, j = decodeBlocks(d, b, i, j); i < from+fewDecoded {
				pass = passed
			}
		}
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(d[j:], w)
			if m := special(w); m != 0 {
				n := bits.TrailingZeros64(m) / 8
				i, j = i+n, j+n
				break
			}
			i, j = i+8, j+8
		}
		if i >= len(b) {
			return dst, i, syntax(i, "the line ends inside a string")
		}
		switch c := b[i]; {
		case c == '"':
			return d[:j], i, nil
		case c == '\\':
			if i+1 < len(b) && unescaped[b[i+1]] != 0 {
				d[j] = unescaped[b[i+1]]
				i, j = i+2, j+1
				continue
			}
			i, j, err = decodeUnicode(d, b, i, j)
		case c < 0x20:
			err = syntax(i, "a control character inside a string must be escaped")
		case c >= utf8.RuneSelf:
			start := i
			i, err = scanWide(b, i)
			j += copy(d[j:], b[start:i])
		default:
			d[j] = c
			i, j = i+1, j+1
		}
		if err != nil {
			return dst, i, err
		}
	}
}

const (
	// fewDecoded is how many bytes have to be decoded in blocks for it to be tried again
	// at once, and passed how many stops are passed otherwise before it is.
	fewDecoded = 32
	passed     = 8
)

// block is the number of bytes of a string decoded together; 0 if the processor cannot.
var block = maxBlock

// decodeBlocks decodes b[i:] to d[j:] as far as that can be done block by block, to
// the beginning of a character, and returns both indexes there.
func decodeBlocks(d, b []byte, i, j int) (nextI, nextJ int) {
	if block == 0 || i < 3 || i+64 > len(b) {
		return i, j
	}
	start, escapes := i, (*[128]byte)(unescaped[:])
	var read, written int
	if block == 64 {
		read, written = decodeAVX512(&d[j], &b[i], len(b)-i, escapes)
	} else {
		read, written = decodeAVX2(&d[j], &b[i], len(b)-i, escapes)
	}
	i, j = i+read, j+written
	for i > start && b[i-1] >= utf8.RuneSelf { // it may go on: to be looked at again
		i, j = i-1, j-1
		if b[i] >= 0xC0 {
			break
		}
	}
	return i, j
}

// decodeUnicode writes the character that the escape at b[i], which is none of
// the short ones, stands for to d[j] and returns the indexes behind both.
func decodeUnicode(d, b []byte, i, j int) (nextI, nextJ int, err error) {
	end, err := scanUnicode(b, i)
	if err != nil {
		return i, j, err
	}
	r := hex4(b[i+2:])
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if end+1 < len(b) && b[end] == '\\' && b[end+1] == 'u' {
			low = hex4(b[end+2:])
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			end += 6
		}
	}
	return end, j + utf8.EncodeRune(d[j:], r), nil
}

// unescaped maps the letter of a short escape to its character.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}
