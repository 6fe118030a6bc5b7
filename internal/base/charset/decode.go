package charset

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

const (
	hz     = "hz-gb-2312"
	utf8Of = "utf-8"
)

// byName maps names to the multi-byte and wide encodings.
var byName = func() map[string]encoding.Encoding {
	all := map[string]encoding.Encoding{
		hz:         simplifiedchinese.HZGB2312,
		"utf-32le": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
		"utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
	}
	for _, name := range []string{utf8Of, "gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "utf-16le", "utf-16be"} {
		all[name], _ = htmlindex.Get(name) // always a known name
	}
	return all
}()

func isWide(name string) bool {
	return strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "utf-32")
}

// singles maps names to the single-byte encodings that pages can declare.
var singles = func() map[string]*charmap.Charmap {
	all := map[string]*charmap.Charmap{}
	for _, e := range charmap.All {
		if cm, ok := e.(*charmap.Charmap); ok {
			if name, err := htmlindex.Name(cm); err == nil {
				all[name] = cm
			}
		}
	}
	return all
}()

// Tolerated faults: fewer than one in this many characters.
const (
	declaredFaults = 1000
	detectedFaults = 200
)

// decodeMulti decodes body if fewer than one character in among is malformed. A character cut off
// by the end of body does not count.
func decodeMulti(dst, body []byte, name string, among int) (text []byte, ok bool) {
	text = transformed(dst, body, name)
	decoded := text[len(dst):]
	faults := bytes.Count(decoded, replacement)
	if bytes.HasSuffix(decoded, replacement) {
		faults--
	}
	if faults > 0 && faults*among >= utf8.RuneCount(decoded) {
		return dst, false
	}
	return text, true
}

var replacement = []byte("\uFFFD")

func transformed(dst, body []byte, name string) []byte {
	decoder := byName[name].NewDecoder()
	dst = slices.Grow(dst, len(body)+len(body)/2)
	for {
		text, read, err := transform.Append(decoder, dst, body)
		if err == nil {
			return text
		}
		dst, body = append(text, replacement...), body[min(read+1, len(body)):] // cut off at the end
	}
}

// decodeSingle decodes body if fewer than one character in a thousand is malformed: a byte without
// a character, or with a control character.
func decodeSingle(dst, body []byte, s *charmap.Charmap) (text []byte, ok bool) {
	text = dst
	faults := 0
	for len(body) > 0 {
		n := asciiPrefix(body)
		text = append(text, body[:n]...)
		for body = body[n:]; len(body) > 0 && body[0] >= 0x80; body = body[1:] {
			r := s.DecodeByte(body[0])
			if r == utf8.RuneError || r < 0xa0 {
				faults++
				r = utf8.RuneError
			}
			text = utf8.AppendRune(text, r)
		}
	}
	if faults > 0 && faults*declaredFaults >= utf8.RuneCount(text[len(dst):]) {
		return dst, false
	}
	return text, true
}

func asciiPrefix(b []byte) (n int) {
	for n < len(b) && b[n] < 0x80 {
		n++
	}
	return n
}

// marks are the byte order marks, longer ones before their prefixes.
var marks = []struct{ mark, name string }{
	{"\x00\x00\xFE\xFF", "utf-32be"},
	{"\xFF\xFE\x00\x00", "utf-32le"},
	{"\xEF\xBB\xBF", utf8Of},
	{"\xFE\xFF", "utf-16be"},
	{"\xFF\xFE", "utf-16le"},
	{"\x84\x31\x95\x33", "gb18030"},
}

// decodeMarked decodes by a byte order mark. It ignores a mark that the following bytes do not fit.
func decodeMarked(dst, body []byte) (text []byte, name string) {
	for _, m := range marks {
		rest, marked := bytes.CutPrefix(body, []byte(m.mark))
		if !marked {
			continue
		}
		text, ok := decodeMulti(dst, rest, m.name, detectedFaults)
		if ok && !isBinary(text[len(dst):]) && bytes.IndexByte(text[len(dst):], 0) < 0 {
			return text, m.name
		}
	}
	return dst, ""
}

// decodeWide decodes a body with zero bytes: UTF-16 or UTF-32 without a mark, UTF-8 with stray
// zeros, or no text.
func decodeWide(dst, body []byte) (text []byte, name string, err error) {
	if zeros := bytes.Count(body, []byte{0}); zeros*1000 <= len(body) && utf8.Valid(body) && !isBinary(body) {
		return append(dst, body...), utf8Of, nil
	}
	for _, name := range []string{"utf-32le", "utf-32be", "utf-16le", "utf-16be"} {
		if looksWide(body, name) {
			if text, ok := decodeMulti(dst, body, name, declaredFaults); ok {
				return text, name, nil
			}
		}
	}
	if utf8.Valid(body) && !isBinary(body) {
		return append(dst, body...), utf8Of, nil
	}
	return dst, "", ErrUnknown
}

// widePieces is the largest number of units examined to recognize UTF-16 or UTF-32.
const widePieces = 1 << 15

// looksWide reports whether nearly all units are characters common in texts, including some white
// space or ASCII punctuation, as in any text.
func looksWide(body []byte, name string) bool {
	order, size := binary.ByteOrder(binary.LittleEndian), 2
	if strings.HasSuffix(name, "be") {
		order = binary.BigEndian
	}
	if strings.HasPrefix(name, "utf-32") {
		size = 4
	}
	units, usual, spaces := 0, 0, 0
	for ; len(body) >= size && units < widePieces; body = body[size:] {
		u := uint32(order.Uint16(body))
		if size == 4 {
			u = order.Uint32(body)
		}
		units++
		if isUsual(u) {
			usual++
		}
		if u == ' ' || u == '\n' || u == '\r' || u == ',' || u == '.' || u == '<' {
			spaces++
		}
	}
	return units >= 4 && (len(body) < size || units == widePieces) && usual*100 >= units*98 && spaces*400 >= units
}

// isUsual reports whether a code point is white space or of a script in use, and no rare ideograph.
func isUsual(u uint32) bool {
	switch {
	case u < 0x20:
		return u == '\t' || u == '\n' || u == '\r'
	case u < 0x80:
		return u != 0x7f
	default:
		return 0xa0 <= u && u < 0x1200 || 0x1e00 <= u && u < 0x2700 || 0x3000 <= u && u < 0x3400 ||
			0x4e00 <= u && u < 0xa000 || 0xac00 <= u && u < 0xd7a4 || 0xf900 <= u && u < 0xfb00 || 0xff00 <= u && u < 0xffef
	}
}

// decodeEscaped decodes ISO-2022-JP: ASCII bytes with escape sequences that switch character sets.
func decodeEscaped(dst, body []byte) (text []byte, name string) {
	occurs := func(sequence string) bool { return bytes.Contains(body, []byte(sequence)) }
	if asciiPrefix(body) == len(body) && slices.ContainsFunc([]string{"\x1b$B", "\x1b$@", "\x1b(J", "\x1b(I"}, occurs) {
		if text, ok := decodeMulti(dst, body, "iso-2022-jp", detectedFaults); ok {
			return text, "iso-2022-jp"
		}
	}
	return dst, ""
}
