package corpus

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// A strict JSON reader for one line. It goes over the bytes once, checks
// syntax and UTF-8, notes where wanted values are and builds nothing. fastjson
// is no faster once its omissions (control characters, escapes, UTF-8) are
// checked in passes of their own, and it copies every line.

// maxDepth is the deepest nesting of a line, the limit of encoding/json.
const maxDepth = 10000

// kind is what a JSON value is.
type kind byte

const (
	missing kind = iota
	kindString
	kindNumber
	kindNull
	kindBool
	kindObject
	kindArray
)

func (k kind) String() string {
	return [...]string{"missing", "a string", "a number", "null", "true or false", "an object", "an array"}[k]
}

// value is where a JSON value is in its line; of a string, without its quotes.
type value struct {
	kind       kind
	escaped    bool // a string with a backslash in it
	start, end int
}

// syntaxError is a fault at a byte of a line, counted from 1.
type syntaxError struct {
	at   int
	what string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.at, e.what)
}

func syntax(at int, what string) error { return &syntaxError{at + 1, what} }

// invalidUTF8 is kept apart from other faults: it has its own reason.
type invalidUTF8 struct{ at int }

func (e *invalidUTF8) Error() string {
	return fmt.Sprintf("invalid UTF-8 at byte %d", e.at+1)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// scanValue checks the value that begins at b[i] and returns what it is and
// the index behind it.
func scanValue(b []byte, i, depth int) (value, int, error) {
	if i >= len(b) {
		return value{}, i, syntax(i, "the line ends where a value should be")
	}
	switch c := b[i]; {
	case c == '"':
		end, escaped, err := scanString(b, i+1)
		return value{kindString, escaped, i + 1, end}, end + 1, err
	case c == '-' || '0' <= c && c <= '9':
		end, err := scanNumber(b, i)
		return value{kindNumber, false, i, end}, end, err
	case c == '{':
		end, err := scanObject(b, i, depth+1, nil)
		return value{kindObject, false, i, end}, end, err
	case c == '[':
		end, err := scanArray(b, i, depth+1)
		return value{kindArray, false, i, end}, end, err
	}
	return scanWord(b, i)
}

func scanWord(b []byte, i int) (value, int, error) {
	for _, w := range [...]struct {
		word string
		kind kind
	}{{"null", kindNull}, {"true", kindBool}, {"false", kindBool}} {
		if end := i + len(w.word); end <= len(b) && string(b[i:end]) == w.word {
			return value{w.kind, false, i, end}, end, nil
		}
	}
	return value{}, i, syntax(i, "no value begins like this")
}

// keyFunc is told of every key of an object (a string value, without quotes)
// and checks the value at b[i], returning the index behind it.
type keyFunc func(b []byte, key value, i, depth int) (int, error)

// scanObject checks the object that begins at b[i]. Values are given to visit,
// or only checked when it is nil.
func scanObject(b []byte, i, depth int, visit keyFunc) (int, error) {
	if depth > maxDepth {
		return i, syntax(i, "nested too deeply")
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, syntax(i, "expected a key in quotes")
		}
		end, escaped, err := scanString(b, i+1)
		if err != nil {
			return i, err
		}
		key := value{kindString, escaped, i + 1, end}
		if i = skipSpace(b, end+1); i >= len(b) || b[i] != ':' {
			return i, syntax(i, "expected ':' after a key")
		}
		i = skipSpace(b, i+1)
		if visit == nil {
			_, i, err = scanValue(b, i, depth)
		} else {
			i, err = visit(b, key, i, depth)
		}
		if err != nil {
			return i, err
		}
		var more bool
		if i, more, err = scanNext(b, i, '}'); !more {
			return i, err
		}
	}
}

func scanArray(b []byte, i, depth int) (int, error) {
	if depth > maxDepth {
		return i, syntax(i, "nested too deeply")
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		_, end, err := scanValue(b, i, depth)
		if err != nil {
			return end, err
		}
		var more bool
		if i, more, err = scanNext(b, end, ']'); !more {
			return i, err
		}
	}
}

// scanNext reads what follows a member of an object or array: a comma (more is
// true, the index is that of the next member) or the closing bracket.
func scanNext(b []byte, i int, closing byte) (next int, more bool, err error) {
	i = skipSpace(b, i)
	switch {
	case i < len(b) && b[i] == ',':
		return skipSpace(b, i+1), true, nil
	case i < len(b) && b[i] == closing:
		return i + 1, false, nil
	case i >= len(b):
		return i, false, syntax(i, "the line ends inside an object or array")
	}
	return i, false, syntax(i, "expected ',' or '"+string(closing)+"'")
}

func scanNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	first, err := i, error(nil)
	if i, err = scanDigits(b, i); err != nil {
		return i, err
	}
	if b[first] == '0' && i > first+1 {
		return i, syntax(first, "a number begins with 0")
	}
	if i < len(b) && b[i] == '.' {
		if i, err = scanDigits(b, i+1); err != nil {
			return i, err
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return scanDigits(b, i)
	}
	return i, nil
}

func scanDigits(b []byte, i int) (int, error) {
	first := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == first {
		return i, syntax(i, "expected a digit")
	}
	return i, nil
}

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
			return i, &invalidUTF8{i}
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
	for {
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

// unescaped maps the letter of a short escape to what it stands for.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}
