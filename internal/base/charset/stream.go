package charset

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

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
