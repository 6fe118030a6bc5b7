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
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
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
		if isControl[c] {
			controls++
		}
	}
	return controls*500 > len(body)
}

// isControl marks the control characters that do not occur in texts.
var isControl = func() (t [256]bool) {
	for c := range t {
		t[c] = c < ' ' && bytes.IndexByte([]byte("\t\n\v\f\r\x1a\x1b"), byte(c)) < 0 || c == 0x7f
	}
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

// Malformed is the byte that a [Stream] puts in place of malformed bytes. It is never part of
// UTF-8, so any check of the text finds it.
const Malformed = 0xff

// Stream decodes text of any length from an encoding piece by piece. It is safe for concurrent use.
type Stream struct {
	name     string
	encoding encoding.Encoding
	own      []byte // U+FFFD in the encoding, nil if it has none
}

// StreamOf returns the encoding with a label, such as gbk or utf-16; the latter means utf-16le
// without a byte order mark. An unknown label is an error. So are iso-2022-jp and hz-gb-2312,
// because bytes far before a byte may change its meaning there.
func StreamOf(label string) (*Stream, error) {
	name := nameOf(label)
	if lower := strings.ToLower(label); name == "" && byName[lower] != nil { // utf-32: not in pages
		name = lower
	}
	e := byName[name]
	switch {
	case name == "":
		return nil, fmt.Errorf("no encoding is called %q: want a name such as utf-8, utf-16, gbk, gb18030, big5, shift_jis, euc-kr or windows-1252", label)
	case name == hz || name == "iso-2022-jp" || name == "replacement":
		return nil, fmt.Errorf("text in %s cannot be read in pieces: convert it to UTF-8 first, for example with iconv", name)
	case e == nil:
		e, _ = htmlindex.Get(name) // always a known name
	}
	own, _ := e.NewEncoder().Bytes(replacement) // nil after an error
	return &Stream{name: name, encoding: e, own: own}, nil
}

// Name returns the name of the encoding.
func (s *Stream) Name() string { return s.name }

// IsUTF8 reports whether there is nothing to decode.
func (s *Stream) IsUTF8() bool { return s.name == utf8Of }

// Marked returns the encoding of a text's byte order mark, or nil. The mark is part of the text.
func Marked(head []byte) *Stream {
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			s, _ := StreamOf(m.name) // always a known name
			return s
		}
	}
	return nil
}

// Detect returns the encoding of a text from its beginning, by the rules of Decode. whole reports
// whether head is all of the text. The error is [ErrUnknown], or that of StreamOf.
func Detect(head []byte, whole bool) (*Stream, error) {
	if s := Marked(head); s != nil {
		return s, nil
	}
	for i := max(0, len(head)-utf8.UTFMax+1); i < len(head) && !whole; i++ {
		if !utf8.FullRune(head[i:]) {
			head = head[:i]
		}
	}
	_, name, err := Decode(nil, head, "")
	if err != nil {
		return nil, err
	}
	return StreamOf(name)
}

// NewReader returns a reader that converts r to UTF-8. Bytes that are not a character become one
// byte [Malformed]. It never waits for more input than the next character needs.
func (s *Stream) NewReader(r io.Reader) io.Reader {
	return transform.NewReader(r, &streamDecoder{s.encoding.NewDecoder().Transformer, s.own, s.name == "gb18030"})
}

type streamDecoder struct {
	transform.Transformer
	own     []byte
	private bool // GB18030, which has the characters of userDefined
}

func (r *streamDecoder) Transform(dst, src []byte, last bool) (n, used int, err error) {
	n, used, err = r.Transformer.Transform(dst, src, last)
	if bytes.Contains(dst[:n], replacement) {
		n, used, err = r.decodeFaulty(dst, src, last)
	}
	if last && err == transform.ErrShortSrc { // cut off at the end
		used, err = len(src), nil
	}
	return n, used, err
}

// decodeFaulty decodes one character at a time. This distinguishes malformed bytes from the U+FFFD
// that earlier conversions put in place of such bytes.
func (r *streamDecoder) decodeFaulty(dst, src []byte, last bool) (n, used int, err error) {
	for used < len(src) {
		written, read, err := r.one(dst[n:], src[used:], last)
		if read == 0 {
			return n, used, err
		}
		from := src[used : used+read]
		private := userDefined(from)
		switch {
		case r.own != nil && bytes.Equal(from, r.own):
		case r.private && private != 0 && bytes.Equal(dst[n:n+written], replacement):
			written = utf8.EncodeRune(dst[n:], private)
		default:
			written = copy(dst[n:], bytes.ReplaceAll(dst[n:n+written], replacement, []byte{Malformed}))
		}
		n, used = n+written, used+read
	}
	return n, used, nil
}

// one decodes the first character of src, or none if it is incomplete.
func (r *streamDecoder) one(dst, src []byte, last bool) (written, read int, err error) {
	for k := 1; k <= len(src) && read == 0 && err != transform.ErrShortDst; k++ {
		written, read, err = r.Transformer.Transform(dst, src[:k], last && k == len(src))
	}
	return written, read, err
}

// userDefined returns the private-use character that GB18030 assigns to two bytes of its
// user-defined areas, or 0. The areas AAA1 to AFFE, F8A1 to FEFE and A140 to A7A0 follow one
// another from U+E000, in rows of 94, 94 and 96. The library's tables lack these characters, but
// texts use them as icons of fonts.
func userDefined(b []byte) rune {
	if len(b) != 2 {
		return 0
	}
	lead, trail := rune(b[0]), rune(b[1])
	switch {
	case 0xf8 <= lead && lead <= 0xfe && 0xa1 <= trail && trail <= 0xfe:
		return 0xe234 + (lead-0xf8)*94 + trail - 0xa1
	case 0xaa <= lead && lead <= 0xaf && 0xa1 <= trail && trail <= 0xfe:
		return 0xe000 + (lead-0xaa)*94 + trail - 0xa1
	case 0xa1 <= lead && lead <= 0xa7 && 0x40 <= trail && trail < 0x7f:
		return 0xe4c6 + (lead-0xa1)*96 + trail - 0x40
	case 0xa1 <= lead && lead <= 0xa7 && 0x7f < trail && trail <= 0xa0:
		return 0xe4c6 + (lead-0xa1)*96 + trail - 0x41
	}
	return 0
}
