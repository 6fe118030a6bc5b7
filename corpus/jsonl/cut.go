package jsonl

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
)

// Cut appends a record to dst, without some ranges of its text. The ranges are in bytes of the
// decoded text, ascending and disjoint. If mark is set, they are kept between >>> and <<<. All
// other bytes of the record are unchanged.
func (f Format) Cut(dst, raw []byte, ranges [][2]int, mark bool) ([]byte, error) {
	p, err := newParser(f.Fields, "")
	if err != nil {
		return dst, err
	}
	p.block = &corpus.Block{Data: raw}
	defer p.block.Release()
	if err := p.scan(raw); err != nil {
		return dst, err
	}
	text := p.targets[p.found(textLiteral, textPath)].value
	if text.kind != kindString {
		return dst, fmt.Errorf("field %q is not a string", p.fields.Text)
	}
	at, from := text.start, 0 // index in raw, and the end of the part appended
	decoded := 0
	forward := func(to int) error {
		for decoded < to && at < text.end {
			n, size := decodedCharacter(raw[at:text.end])
			at, decoded = at+n, decoded+size
		}
		if decoded != to {
			return fmt.Errorf("a passage begins or ends inside a character of the text, or after the text")
		}
		return nil
	}
	for _, r := range ranges {
		if err := forward(r[0]); err != nil {
			return dst, err
		}
		dst = append(dst, raw[from:at]...)
		from = at
		if err := forward(r[1]); err != nil {
			return dst, err
		}
		if mark {
			dst = slices.Concat(dst, []byte(">>>"), raw[from:at], []byte("<<<"))
		}
		from = at
	}
	return append(dst, raw[from:]...), nil
}

// decodedCharacter returns the length of the first character in b, both as written and decoded.
func decodedCharacter(b []byte) (written, size int) {
	switch {
	case b[0] != '\\':
		_, size = utf8.DecodeRune(b)
		return size, size
	case b[1] != 'u':
		return 2, 1
	}
	var decoded [utf8.UTFMax]byte
	written, size, _ = decodeUnicode(decoded[:], b, 0, 0) // already validated
	return written, size
}
