package show

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/gzip"

	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// blockRows is the number of removals in a block of a page's data. The page decodes one at a time.
const blockRows = 5000

// writeRows writes all removals of a report as blocks for the page's script: lines of JSON, in gzip
// and base64. A line is an array of id, earlier id, place, score, row and column of the map.
func (d *Digest) writeRows(w io.Writer, all iter.Seq2[*lines.Line, error]) error {
	var packed bytes.Buffer
	z, rows := gzip.NewWriter(&packed), 0
	encoder := json.NewEncoder(z)
	encoder.SetEscapeHTML(false)
	flush := func() error {
		if rows == 0 {
			return nil
		}
		if err := z.Close(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "<script class=\"rows\" type=\"application/gzip\" data-n=\"%d\">%s</script>\n", rows, base64.StdEncoding.EncodeToString(packed.Bytes()))
		packed.Reset()
		z.Reset(&packed)
		rows = 0
		return err
	}
	for l, err := range all {
		if err != nil {
			return err
		}
		if l.Kept {
			continue
		}
		of, row, column := "", -1, -1
		if l.Of != nil {
			of = *l.Of
			row, column = d.Map.at(pairOf(l))
		}
		if err := encoder.Encode([]any{l.ID, of, whereOf(l), l.Score, row, column}); err != nil {
			return err
		}
		if rows++; rows == blockRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
