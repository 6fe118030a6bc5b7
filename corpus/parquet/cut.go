package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// Cut appends a row to dst without some ranges of its text, which is given too; the ranges are in
// bytes, ascending and disjoint. With mark, they stay between >>> and <<<.
func (Format) Cut(dst, raw, text []byte, ranges [][2]int, mark bool) ([]byte, error) {
	// The text is the first column, behind the schema and perhaps its definition level.
	const printBytes = 8
	for at := printBytes; at <= printBytes+1 && at < len(raw); at++ {
		n, size := binary.Uvarint(raw[at:])
		rest := raw[min(at+max(size, 0), len(raw)):]
		if size <= 0 || n != uint64(len(text)) || !bytes.HasPrefix(rest, text) {
			continue
		}
		var cut []byte
		from := 0
		for _, r := range ranges {
			cut = append(cut, text[from:r[0]]...)
			if mark {
				cut = slices.Concat(cut, []byte(">>>"), text[r[0]:r[1]], []byte("<<<"))
			}
			from = r[1]
		}
		cut = append(cut, text[from:]...)
		dst = append(dst, raw[:at]...)
		dst = binary.AppendUvarint(dst, uint64(len(cut)))
		return slices.Concat(dst, cut, rest[len(text):]), nil
	}
	return dst, errors.New("the text of a row is not a plain column")
}
