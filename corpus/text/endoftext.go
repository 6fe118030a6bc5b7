package text

import (
	"bytes"
)

// endMark follows each document in corpora for language models, such as TinyStories.
const endMark = "<|endoftext|>"

func init() {
	Formats["endoftext"] = format{noun: "text", name: "texts with " + endMark, cutter: marked{}, end: "\n" + endMark + "\n"}
}

type marked struct{ paragraphs }

// End searches from earlier: all bytes of a mark but the last may be before from.
func (marked) End(data []byte, from int) int {
	from = max(0, from-len(endMark)+1)
	if i := bytes.Index(data[from:], []byte(endMark)); i >= 0 {
		return from + i + len(endMark)
	}
	return -1
}

// Strip trims the mark, and the line ends on both sides. A text of white space is empty.
func (m marked) Strip(record []byte) (raw []byte, empty bool) {
	return m.paragraphs.Strip(bytes.TrimSuffix(record, []byte(endMark)))
}
