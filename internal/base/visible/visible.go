// Package visible makes untrusted text safe to show on a terminal. It escapes the controls that a
// terminal would act on, and those that change the direction of a line.
package visible

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns s as one line with blanks for white space, and \u escapes for invisible characters.
func Line(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// JSON appends JSON to dst with invisible characters in strings escaped. Its values stay the same.
func JSON(dst, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < 0x7f || unicode.IsGraphic(r): // lower ones are escaped in JSON, or between values
			dst = append(dst, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		text = text[size:]
	}
	return dst
}

// NewEncoder returns an encoder of JSON lines with only visible characters.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(&escaped{to: w})
	enc.SetEscapeHTML(false)
	return enc
}

// escaped writes JSON that comes in whole characters.
type escaped struct {
	to  io.Writer
	buf []byte
}

func (e *escaped) Write(p []byte) (int, error) {
	e.buf = JSON(e.buf[:0], p)
	if _, err := e.to.Write(e.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}
