package jsonl

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Most bytes of a JSON line are in strings, so most time is spent here.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special sets the high bit of the first byte of w that ends a run of plain characters: a quote, a
// backslash, a control character or a byte above ASCII. It returns 0 if there is none. Later bytes
// are unreliable, since borrows of the subtractions carry into them.
func special(w uint64) uint64 {
	control := w - ones*0x20
	quote := (w ^ ones*'"') - ones
	backslash := (w ^ ones*'\\') - ones
	return (control | quote | backslash | w) & highs
}

// scanString checks the string whose content begins at b[i], and returns its closing quote's index.
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

// scanUnicode checks the escape at b[i], which is not a short one.
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

// scanWide checks characters above ASCII.
func scanWide(b []byte, i int) (int, error) {
	// Three bytes with a lead byte other than E0 and ED are valid whatever their payload. Han and
	// kana are all of this kind, so check two characters at a time.
	const leads = 0xdffe // bit n: lead byte E0+n needs no more checks
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

// hex4 returns the value of the first four hexadecimal digits of b, or -1.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var v [2]byte
	if _, err := hex.Decode(v[:], b[:4]); err != nil {
		return -1
	}
	return rune(v[0])<<8 | rune(v[1])
}

// appendDecoded appends the content of a string that scanString accepted.
func appendDecoded(dst, b []byte) []byte {
	for {
		n := bytes.IndexByte(b, '\\')
		if n < 0 {
			return append(dst, b...)
		}
		dst, b = append(dst, b[:n]...), b[n:]
		if c := unescaped[b[1]]; c != 0 {
			dst, b = append(dst, c), b[2:]
			continue
		}
		r, size := longEscape(b)
		dst, b = utf8.AppendRune(dst, r), b[size:]
	}
}

// longEscape returns the character of the long escape that b begins with, and the length of the
// escape. A surrogate without its partner becomes U+FFFD.
func longEscape(b []byte) (r rune, size int) {
	const length = len(`\u0061`)
	if r = hex4(b[2:]); !utf16.IsSurrogate(r) {
		return r, length
	}
	if rest := b[length:]; len(rest) >= length && rest[0] == '\\' && rest[1] == 'u' {
		if r := utf16.DecodeRune(r, hex4(rest[2:])); r != utf8.RuneError {
			return r, 2 * length
		}
	}
	return utf8.RuneError, length
}

// unescaped maps the letter of a short escape to its character.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}
