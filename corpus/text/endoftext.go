package text

import (
	"bytes"

	"github.com/firstseen/firstseen/corpus"
)

// endMark stands behind each document in corpora for language models, such as TinyStories.
const endMark = "<|endoftext|>"

func init() {
	Formats["endoftext"] = format{noun: "text", name: "texts with " + endMark, cutter: marked{}, end: "\n" + endMark + "\n"}
}

// marked finds the ends of texts.
type marked struct{ paragraphs }

// Cut counts whole texts.
func (m marked) Cut(data []byte, most int) (end, records int) {
	return corpus.CutByEnds(m, data, most)
}

// End finds an end behind the first bytes, of which a mark may have all but its last.
func (marked) End(data []byte, from int) int {
	from = max(0, from-len(endMark)+1)
	if i := bytes.Index(data[from:], []byte(endMark)); i >= 0 {
		return from + i + len(endMark)
	}
	return -1
}

// Strip takes the mark and the line ends at both ends away. A white text is empty.
func (m marked) Strip(record []byte) (raw []byte, empty bool) {
	return m.paragraphs.Strip(bytes.TrimSuffix(record, []byte(endMark)))
}
