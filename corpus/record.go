package corpus

import (
	"fmt"
	"unicode/utf8"
)

// BadRecord is a record without a valid document.
type BadRecord struct {
	File   string
	At     Place
	Reason string // in plain words, one line
	Raw    []byte // the record; of one beyond the length limit only the head
}

// Error returns file, place and reason, so that a bad record can end a run if the user allows none.
func (b *BadRecord) Error() string {
	return fmt.Sprintf("%s:%v: %s", b.File, b.At, b.Reason)
}

// maxRejectRaw bounds the bytes of a bad record that are written to a rejects
// file: enough to recognise it, and the file stays small.
const maxRejectRaw = 1024

// AppendJSON appends the record as one JSON object to dst: file, line (its
// place), reason, and raw, its first 1024 bytes with U+FFFD for every byte outside UTF-8. It is a line
// of a rejects file, without its end.
func (b *BadRecord) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"file":`...)
	dst = appendString(dst, []byte(b.File))
	dst = append(dst, `,"line":`...)
	dst = b.At.appendJSON(dst)
	dst = append(dst, `,"reason":`...)
	dst = appendString(dst, []byte(b.Reason))
	dst = append(dst, `,"raw":`...)
	dst = appendString(dst, clip(b.Raw, maxRejectRaw))
	return append(dst, '}')
}

// clip cuts b to at most n bytes, not inside a character.
func clip(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return b[:i]
		}
	}
	return b[:n]
}

// appendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD; U+2028 and U+2029 are escaped for readers that take JSON for
// JavaScript.
func appendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += size
	}
	return append(dst, '"')
}
