package show

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	html "html/template"
	"io"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

//go:embed page.html
var htmlPage string

//go:embed page.js
var script string

var htmlTemplate = html.Must(html.New("page").Funcs(html.FuncMap{
	"clean": visible.Line, "percent": percent, "group": group, "named": named, "escape": url.PathEscape,
}).Parse(htmlPage))

// percent formats a share of a whole.
func percent(n, all int64) string { return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(all, 1))) }

// group formats a number with a comma between groups of three digits.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func named(group string) string {
	if group == "" {
		return "no folder"
	}
	return group
}

// chart is a plot of bars, one unit wide each and at most 100 high.
type chart struct {
	Title, Class, From, Note, To string
	Width                        int
	Bars                         []bar
	Mark                         float64 // a vertical line; 0 for none
}

type bar struct {
	X, Y, Height float64
	Title        string
}

func (c *chart) add(x int, height, most float64, title string) {
	h := 100 * height / most
	if height > 0 {
		h = max(h, 1)
	}
	c.Bars = append(c.Bars, bar{float64(x), 100 - h, h, title})
}

// charts returns the removals along the inputs and over time.
func (d *Digest) charts() (all []chart) {
	if len(d.Stream) > 1 {
		c := chart{Title: "Share removed along the inputs", Class: "dup", From: "first document", To: "last", Note: "height: 0 to 100%", Width: len(d.Stream)}
		for i, s := range d.Stream {
			c.add(i, s.Share, 1, fmt.Sprintf("from document %s on: %d removed, %.1f%%", s.From, s.Removed, 100*s.Share))
		}
		all = append(all, c)
	}
	if len(d.Days) > 1 {
		most := slices.MaxFunc(d.Days, func(a, b Step) int { return int(a.Removed - b.Removed) }).Removed
		c := chart{Title: "Removed, by the documents' times", Class: "dup", From: d.Days[0].From, To: d.Days[len(d.Days)-1].From, Note: "highest: " + group(most), Width: len(d.Days)}
		for i, s := range d.Days {
			c.add(i, float64(s.Removed), float64(most), fmt.Sprintf("%s: %d removed", s.From, s.Removed))
		}
		all = append(all, c)
	}
	return all
}

// scores returns a histogram of each verdict with a score. The mark is the least score of a removal.
func (d *Digest) scores() (all []chart) {
	for _, v := range []struct {
		title, class string
		of           func(b Bin) int64
	}{
		{"Near copies, by score", "dup", func(b Bin) int64 { return b.Duplicates }},
		{"Related and kept, by score", "rel", func(b Bin) int64 { return b.Related }},
		{"Mosaics, by score", "mos", func(b Bin) int64 { return b.Mosaics }},
	} {
		most := int64(0)
		for _, b := range d.Histogram {
			most = max(most, v.of(b))
		}
		if most == 0 {
			continue
		}
		c := chart{Title: v.title, Class: v.class, From: "0", To: "1", Note: "highest: " + group(most), Width: Bins}
		for i, b := range d.Histogram {
			c.add(i, float64(v.of(b)), float64(most), fmt.Sprintf("%.2f to %.2f: %d", b.From, b.From+1./Bins, v.of(b)))
		}
		if d.least > 0 && d.least < 1 && v.class == "dup" {
			c.Mark, c.Note = d.least*Bins, fmt.Sprintf("highest: %s; the line: the least score that removed, %.3g", group(most), d.least)
		}
		all = append(all, c)
	}
	return all
}

// mapRow is a row of the map, with the cells of all columns.
type mapRow struct {
	Name   string
	Counts []mapCell
}

type mapCell struct {
	Count       int64
	Row, Column int
	Weight      int // of the colour, 0 to 70 percent
}

func (d *Digest) cells() (rows []mapRow) {
	most := float64(max(d.Map.Most(), 1))
	for r, name := range d.Map.Rows {
		row := mapRow{Name: name}
		for c, n := range d.Map.Cells[r] {
			row.Counts = append(row.Counts, mapCell{n, r, c, 8 + int(52*float64(n)/most)})
		}
		rows = append(rows, row)
	}
	return rows
}

// htmlValues holds the values of the page.
type htmlValues struct {
	page
	Rows           []Total // the totals, then their sum
	Sum            Total
	Kept, Near     int64
	Read           bool // whether the texts were read
	Mapped, Listed bool
	Cells          []mapRow
	Charts, Scores []chart
	Title          string
	ScriptHash     string
}

// Short shortens an id by the folders that all share.
func (v *htmlValues) Short(id string) string {
	if rest, found := strings.CutPrefix(id, v.Map.Folder); found && len(v.Map.Folder) > 8 {
		return "…/" + rest
	}
	return id
}

// WriteHTML writes the digest as one page. It loads nothing. rows yields the lines of the report once
// more, for the list of all removals, or is nil. Ids and texts are inert.
func (d *Digest) WriteHTML(w io.Writer, title string, rows iter.Seq2[*lines.Line, error]) error {
	sum, hash := d.Sum(), sha256.Sum256([]byte(script))
	p := d.page("site ← source", " ← ")
	var b bytes.Buffer
	err := htmlTemplate.Execute(&b, &htmlValues{
		page: p, Rows: append(slices.Clone(d.Totals), sum), Sum: sum, Kept: d.Lines - d.Removed, Near: d.Duplicates - d.Exact,
		Read: sum.Bytes > 0, Mapped: len(d.Map.Rows)+len(d.Map.Columns) > 2, Listed: rows != nil,
		Cells: d.cells(), Charts: d.charts(), Scores: d.scores(), Title: title, ScriptHash: base64.StdEncoding.EncodeToString(hash[:]),
	})
	if err != nil {
		return err
	}
	end := []byte("</body>")
	head, tail, _ := bytes.Cut(b.Bytes(), end)
	if _, err := w.Write(head); err != nil {
		return err
	}
	if rows != nil {
		if err := d.writeRows(w, rows); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "<script>%s</script>\n", script); err != nil {
			return err
		}
	}
	_, err = w.Write(append(end, tail...))
	return err
}
