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

// Malformed is the byte that a [Stream] puts in place of malformed bytes. It is never
// part of UTF-8, so any check of the text finds it.
const Malformed = 0xff

// Stream is an encoding from which text of any length is decoded piece by piece. It may
// be used by several goroutines.
type Stream struct {
	name     string
	encoding encoding.Encoding
	own      []byte // U+FFFD in the encoding, nil if it has none
}

// StreamOf returns the encoding with a label, such as gbk or utf-16, which is utf-16le without a
// byte order mark. It is an error if the label is unknown. It is also one for iso-2022-jp and
// hz-gb-2312, because bytes far before a byte may change its meaning there.
func StreamOf(label string) (*Stream, error) {
	names := appendName(nil, label)
	if names == nil && wides[strings.ToLower(label)] != nil { // utf-32, which no page has
		names = []string{strings.ToLower(label)}
	}
	if names == nil {
		return nil, fmt.Errorf("no encoding is called %q: want a name such as utf-8, utf-16, gbk, gb18030, big5, shift_jis, euc-kr or windows-1252", label)
	}
	name := names[0]
	e := multis[name]
	switch {
	case name == hz || name == "iso-2022-jp" || name == "replacement":
		return nil, fmt.Errorf("text in %s cannot be read in pieces: convert it to UTF-8 first, for example with iconv", name)
	case wides[name] != nil:
		e = wides[name]
	case e == nil:
		e, _ = htmlindex.Get(name) // it is the name of one
	}
	s := &Stream{name: name, encoding: e}
	if own, err := e.NewEncoder().Bytes(replacement); err == nil {
		s.own = own
	}
	return s, nil
}

// Name is the name of the encoding.
func (s *Stream) Name() string { return s.name }

// IsUTF8 reports whether there is nothing to decode.
func (s *Stream) IsUTF8() bool { return s.name == utf8Of }

// MarkedBy is how many bytes are enough to recognize a byte order mark.
const MarkedBy = 4

// Marked returns the encoding given by a byte order mark at the beginning of a text, nil if there
// is none. The mark is part of the text.
func Marked(head []byte) *Stream {
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			s, _ := StreamOf(m.name) // all marks are of known ones
			return s
		}
	}
	return nil
}

// Detect returns the encoding of a text from its beginning, by the rules of Decode; whole reports
// whether head is all the text. The error is [ErrUnknown], or that of StreamOf.
func Detect(head []byte, whole bool) (*Stream, error) {
	if s := Marked(head); s != nil {
		return s, nil
	}
	for cut := 1; !whole && cut < utf8.UTFMax && cut <= len(head); cut++ {
		if tail := head[len(head)-cut:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				head = head[:len(head)-cut]
			}
			break
		}
	}
	_, name, err := Decode(nil, head, "")
	if err != nil {
		return nil, err
	}
	return StreamOf(name)
}

// NewReader returns a reader of UTF-8 converted from r. In place of bytes that are no character it
// has one byte [Malformed]. It holds no more than some hundred KiB, and waits for no more than it
// needs for the next character.
func (s *Stream) NewReader(r io.Reader) io.Reader {
	return &streamReader{in: r, own: s.own, private: s.name == "gb18030", decoder: s.encoding.NewDecoder().Transformer, buf: make([]byte, streamBuffer)}
}

// streamBuffer is how many bytes are decoded at a time.
const streamBuffer = 32 << 10

// streamGrowth is how many bytes of UTF-8 one byte becomes at most.
const streamGrowth = utf8.UTFMax

type streamReader struct {
	in      io.Reader
	own     []byte
	private bool // it has the characters of userDefined
	decoder transform.Transformer
	buf     []byte
	held    int    // bytes of buf that were read and are not decoded: a part of a character
	out     []byte // memory of rest
	rest    []byte // decoded and not handed out
	err     error  // returned after rest
}

func (r *streamReader) Read(p []byte) (int, error) {
	for idle := 0; len(r.rest) == 0; idle++ {
		if r.err != nil {
			return 0, r.err
		}
		if idle == 100 {
			return 0, io.ErrNoProgress
		}
		n, err := r.in.Read(r.buf[r.held:])
		r.err = err
		src := r.buf[:r.held+n]
		used := r.decode(src, err == io.EOF)
		r.held = copy(r.buf, src[used:])
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// decode decodes the whole characters of src, and the remainder if src is the last, and returns how
// many bytes these are.
func (r *streamReader) decode(src []byte, last bool) (used int) {
	if need := streamGrowth * len(src); cap(r.out) < need {
		r.out = make([]byte, need)
	}
	r.out = r.out[:cap(r.out)]
	n, used, _ := r.decoder.Transform(r.out, src, last) // there is room: it stops before an incomplete character
	if bytes.Contains(r.out[:n], replacement) {
		n, used = r.decodeFaulty(src, last)
	}
	r.rest = r.out[:n]
	return used
}

// decodeFaulty decodes one character after the other. So it distinguishes bytes that are no
// character from the U+FFFD that earlier conversions have put in place of such bytes.
func (r *streamReader) decodeFaulty(src []byte, last bool) (n, used int) {
	for used < len(src) {
		written, read := r.one(r.out[n:], src[used:], last)
		if read == 0 {
			break
		}
		switch from := src[used : used+read]; {
		case r.own != nil && bytes.Equal(from, r.own):
		case r.private && isUserDefined(from) && bytes.Equal(r.out[n:n+written], replacement):
			written = utf8.EncodeRune(r.out[n:], userDefined(from))
		default:
			written = len(unreplace(r.out[n : n+written]))
		}
		n, used = n+written, used+read
	}
	return n, used
}

// one decodes the first character of src, or none if it is not whole.
func (r *streamReader) one(dst, src []byte, last bool) (written, read int) {
	for k := 1; k <= len(src) && read == 0; k++ {
		written, read, _ = r.decoder.Transform(dst, src[:k], last && k == len(src))
	}
	return written, read
}

// isUserDefined reports whether two bytes are a character of the user-defined areas of
// GB18030: AAA1 to AFFE, F8A1 to FEFE, A140 to A7A0.
func isUserDefined(b []byte) bool {
	if len(b) != 2 {
		return false
	}
	lead, trail := b[0], b[1]
	return (0xaa <= lead && lead <= 0xaf || 0xf8 <= lead && lead <= 0xfe) && 0xa1 <= trail && trail <= 0xfe ||
		0xa1 <= lead && lead <= 0xa7 && 0x40 <= trail && trail <= 0xa0 && trail != 0x7f
}

// userDefined returns the private-use character that the standard assigns to the bytes. The areas
// follow one another from U+E000 on, in rows of 94, 94 and 96. The library's tables have none of
// these characters, but texts do, as icons of fonts.
func userDefined(b []byte) rune {
	lead, trail := rune(b[0]), rune(b[1])
	switch {
	case lead >= 0xf8:
		return 0xe234 + (lead-0xf8)*94 + trail - 0xa1
	case lead >= 0xaa:
		return 0xe000 + (lead-0xaa)*94 + trail - 0xa1
	case trail > 0x7f:
		trail--
	}
	return 0xe4c6 + (lead-0xa1)*96 + trail - 0x40
}

// unreplace puts [Malformed] in the place of each U+FFFD.
func unreplace(text []byte) []byte {
	out := text[:0]
	for len(text) > 0 {
		if rest, found := bytes.CutPrefix(text, replacement); found {
			out, text = append(out, Malformed), rest
			continue
		}
		out, text = append(out, text[0]), text[1:]
	}
	return out
}
