package text

import (
	"bytes"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

func init() { Formats["endoftext"] = endOfText{} }

// endMark stands behind each document in corpora for language models, such as TinyStories.
var endMark = []byte("<|endoftext|>")

// endOfText is the format of documents that end with endMark.
type endOfText struct{ Format }

// Name is "texts with <|endoftext|>".
func (endOfText) Name() string { return "texts with " + string(endMark) }

// Noun is "text".
func (endOfText) Noun() string { return "text" }

// Cutter finds the marks.
func (endOfText) Cutter() corpus.Cutter { return marked{} }

// NewParser returns a parser for one goroutine. Texts cannot be annotated.
func (endOfText) NewParser(annotate string) (corpus.Parser, error) {
	return newParser(marked{}, annotate)
}

// Keep writes a text with its mark on a line.
func (endOfText) Keep(w *output.Writer, raw []byte) error {
	return w.WriteRecord(raw, []byte("\n"), endMark, []byte("\n"))
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
	if i := bytes.Index(data[from:], endMark); i >= 0 {
		return from + i + len(endMark)
	}
	return -1
}

// Strip takes the mark and the line ends at both ends away. A white text is empty.
func (m marked) Strip(record []byte) (raw []byte, empty bool) {
	return m.paragraphs.Strip(bytes.TrimSuffix(record, endMark))
}
