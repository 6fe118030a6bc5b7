package show

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

const (
	maxRows   = 1 << 20  // lines that a page lists
	rowsBlock = 1 << 10  // lines of a block
	maxQuotes = 16 << 20 // bytes of quotes in all
	maxValue  = 300      // bytes of an id
	maxQuote  = 160      // bytes of a quote
)

// rows packs the lines of a report for the list of a page. Numbers are packed as columns, so a
// browser can filter without the texts. Those are in blocks, which it unpacks when they are shown.
type rows struct {
	n       int
	numbers [4][]byte // groups of the document and its source, score, verdict
	texts   [4]bytes.Buffer
	quotes  int
	blocks  [][]byte
}

// add adds a line, if there is room.
func (r *rows) add(l *lines.Line, from, of uint16) {
	if r.n == maxRows {
		return
	}
	verdict := uint16(slices.Index(verdictNames, verdictOf(l)))
	if l.Kept {
		verdict |= 1 << 7
	}
	for i, v := range []uint16{from, of, uint16(scoreOf(l)*1e4 + 1e-6), verdict} {
		r.numbers[i] = binary.LittleEndian.AppendUint16(r.numbers[i], v)
	}
	quote := ""
	if len(l.Sample) > 0 && r.quotes < maxQuotes {
		quote = strings.ToValidUTF8(l.Sample[0][:min(len(l.Sample[0]), maxQuote)], "")
		r.quotes += len(quote)
	}
	e := exampleOf("", l)
	for i, text := range []string{e.ID, e.source(), e.Where, quote} {
		r.texts[i].WriteString(short(visible.Line(text)) + "\n")
	}
	if r.n++; r.n%rowsBlock == 0 {
		r.flush()
	}
}

// short cuts a value after maxValue bytes.
func short(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return strings.ToValidUTF8(s[:maxValue], "") + "…"
}

// flush packs a block of texts: its columns one after the other.
func (r *rows) flush() {
	if r.texts[0].Len() == 0 {
		return
	}
	var all []byte
	for i := range r.texts {
		all = append(all, r.texts[i].Bytes()...)
		r.texts[i].Reset()
	}
	r.blocks = append(r.blocks, packed(all))
}

func packed(raw []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6) // the level is valid
	if _, err := w.Write(raw); err != nil || w.Close() != nil {
		panic(err) // a buffer takes all
	}
	return b.Bytes()
}

// write writes the numbers and the blocks as elements of a page.
func (r *rows) write(w io.Writer) error {
	r.flush()
	all := [][]byte{}
	for _, column := range r.numbers {
		all = append(all, packed(column))
	}
	for i, raw := range append(all, r.blocks...) {
		class := "numbers"
		if i >= len(r.numbers) {
			class = "texts"
		}
		if _, err := fmt.Fprintf(w, "<script type=\"application/octet-stream\" class=%q>%s</script>\n", class, base64.StdEncoding.EncodeToString(raw)); err != nil {
			return err
		}
	}
	return nil
}
