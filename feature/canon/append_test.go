package canon

import "unicode/utf8"

// Append appends to dst the canonical form of segment: NFKC, full case folding, ignorable
// characters dropped, apostrophes unified. White space is removed next to a CJK character and at
// the edges, and is one space elsewhere. Punctuation does not end the segment. Bytes that are not
// UTF-8 count as white space. A canonical form is its own.
//
// The form of a piece is that of its byte range, unless the piece was cut from an overlong segment.
func Append(dst, segment []byte) []byte {
	t := unicodeTables()
	return appendSpaced(dst, newFolder(t).core(segment), t)
}

// appendSpaced appends text with canonical white space.
func appendSpaced(dst, text []byte, t *tables) []byte {
	start := len(dst)
	pending := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if isSpace(r) {
			pending = true
		} else {
			if pending && len(dst) > start && !t.layout(dst[start:], t.of(r)) {
				dst = append(dst, ' ')
			}
			pending = false
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst
}
