package jsonl

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
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

// decodeString is scanString that also appends the decoded content to dst. With many escapes, a
// second pass would take as long as the first. A surrogate without its partner becomes U+FFFD.
func decodeString(dst, b []byte, i int) (out []byte, end int, err error) {
	// Each store writes eight bytes; the next overwrites those after a special byte. The decoded
	// content is never longer than b, but the last store may need more room.
	j := len(dst)
	dst = slices.Grow(dst, len(b)-i+8)
	d := dst[:cap(dst)]
	pass := 0 // stops until decodeBlocks is tried again: in \u escapes it decodes nothing
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
	// fewDecoded bytes or more make decodeBlocks run again at once, fewer only after passed stops.
	fewDecoded = 32
	passed     = 8
)

// block is the number of bytes of a string decoded at once; 0 if the processor cannot do that.
var block = maxBlock

// decodeBlocks decodes blocks of b[i:] to d[j:], and returns the indexes after the last character.
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
	for i > start && b[i-1] >= utf8.RuneSelf { // it may be incomplete: decode it again
		i, j = i-1, j-1
		if b[i] >= 0xC0 {
			break
		}
	}
	return i, j
}

// decodeUnicode decodes the long escape at b[i] to d[j], and returns the indexes after both.
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
