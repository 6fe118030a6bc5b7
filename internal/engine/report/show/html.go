package show

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

var (
	//go:embed page.html
	htmlPage string
	//go:embed page.css
	styles string
	//go:embed page.js
	script string
)

func shortLine(s string) string { return short(visible.Line(s)) }

// number writes a number with a comma before each three digits.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

func size(bytes int64) string { return amount.Size(uint64(bytes)) }

func percent(n, all int64) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(all))
}

// lastOf returns the last 24 characters of a name, where paths and hosts differ, from a folder on.
func lastOf(name string) string {
	all := []rune(visible.Line(name))
	if len(all) <= 24 {
		return string(all)
	}
	end := string(all[len(all)-23:])
	if at := strings.Index(end, "/"); at >= 0 && at < 12 {
		end = end[at:]
	}
	return "…" + end
}

// chart is a plot of one measure. Bars stand in a square of 100 by 100.
type chart struct {
	Title, Note, Class string
	Most               string // value of the highest bar
	Bars               []bar
	Axis               []string // below the plot, from left to right
	Mark               float64  // x of a line across; 0 for none
	MarkNote           string
}

type bar struct {
	X, Y, Width, Height float64
	Tip                 string
	Link                template.URL // what follows # in an address of the list; "" for none
}

// add adds bars of equal width, given the value of each, and where the last bar ends.
func (c *chart) add(values []float64, most, end float64, told func(i int) (tip, link string)) {
	width := 100 / end
	for i, v := range values {
		if v > 0 {
			height := math.Round(max(100*v/most, 1))
			tip, link := told(i)
			c.Bars = append(c.Bars, bar{hundredths(float64(i) * width), 100 - height, hundredths(width * .92), height, tip, template.URL(link)})
		}
	}
}

func hundredths(v float64) float64 { return math.Round(100*v) / 100 }

// charts returns the histograms, one for each measure, and the courses along the stream and time.
func (d *Digest) charts() (all []chart) {
	for _, m := range []struct {
		title, note, class, verdict string
		of                          func(Bin) int64
	}{
		{"Near copies, by score", "share of the text in common with the source", "dup", "duplicate", func(b Bin) int64 { return b.Duplicates }},
		{"Related and kept, by share", "share of the document in the earlier one", "rel", "related", func(b Bin) int64 { return b.Related }},
		{"Mosaics, by their best source", "share of the document in that source", "mos", "mosaic", func(b Bin) int64 { return b.Mosaics }},
	} {
		c := chart{Title: m.title, Note: m.note, Class: m.class}
		first, most := Bins, int64(0)
		for i, b := range d.Histogram {
			if n := m.of(b); n > 0 {
				first, most = min(first, i), max(most, n)
			}
		}
		if most == 0 {
			continue
		}
		first = max(0, first&^1-2) // a step of .1, and one before it
		var values []float64
		for _, b := range d.Histogram[first:] {
			values = append(values, float64(m.of(b)))
		}
		c.add(values, float64(most), float64(Bins-first), func(i int) (tip, link string) {
			from, to := float64(first+i)/Bins, float64(first+i+1)/Bins
			return fmt.Sprintf("%.2f to %.2f: %s", from, to, number(int64(values[i]))), fmt.Sprintf("verdict=%s&lo=%.2f&hi=%.2f", m.verdict, from, to)
		})
		c.Most, c.Axis = number(most), []string{fmt.Sprintf("%.1f", float64(first)/Bins), fmt.Sprintf("%.2g", float64(first+Bins)/2/Bins), "1"}
		if m.class == "dup" {
			c.Mark = hundredths(max(.2, 100*(d.lowest*Bins-float64(first))/float64(Bins-first)))
			c.MarkNote = fmt.Sprintf("weakest: %.4g", d.lowest)
		}
		all = append(all, c)
	}
	return append(all, d.courses()...)
}

func (d *Digest) courses() (all []chart) {
	if kept := d.course.shares(); kept != nil {
		s := &d.course.stream
		c := chart{Title: "Kept share along the stream", Class: "kept", Most: "100%", Axis: []string{"first document", number(s.last + 1)}}
		if c.Note = "share of the documents that stays"; !d.course.read {
			c.Note, c.Axis[0] = "share of the records that stays, up to the last copy", "first record"
		}
		c.add(kept, 1, float64(s.last+1-s.start)/float64(s.width), func(i int) (tip, link string) {
			return fmt.Sprintf("from %s: %.1f%% kept", number(s.start+int64(i)*s.width+1), 100*kept[i]), ""
		})
		all = append(all, c)
	}
	if s := &d.course.times; len(s.met()) > 1 {
		c := chart{Title: "Copies over time", Note: "by the time of the removed document", Class: "dup", Axis: []string{day(s.first, s.width), day(s.last, s.width)}}
		var values []float64
		for _, b := range s.met() {
			values = append(values, float64(b[0]))
		}
		most := slices.Max(values)
		c.Most = number(int64(most))
		c.add(values, most, float64(len(values)), func(i int) (tip, link string) {
			return fmt.Sprintf("from %s: %s", day(s.start+int64(i)*s.width, s.width), number(int64(values[i]))), ""
		})
		all = append(all, c)
	}
	return all
}

// WriteHTML writes the digest as a page without files or network. Its one script lists the lines;
// all else can be read without. Ids and texts are inert. names are those of the reports.
func (d *Digest) WriteHTML(w io.Writer, names []string) error {
	sum, hash := d.Sum(), sha256.Sum256([]byte(script))
	p := struct {
		*Digest
		Sum     Total
		Read    bool // whether the texts were read
		Title   string
		Tables  []table
		Kinds   []kind
		Charts  []chart
		Near    int64
		Style   template.CSS
		Script  template.JS
		Hash    string
		Data    map[string]any
		Verdict []string
	}{
		d, sum, sum.Bytes > 0, strings.Join(names, ", "), d.tables("site ← source", " ← "), d.kinds(), d.charts(), d.Duplicates - d.Exact,
		template.CSS(styles), template.JS(script), base64.StdEncoding.EncodeToString(hash[:]), nil, verdictNames[1:],
	}
	if d.rows != nil {
		p.Data = map[string]any{"lines": d.rows.n, "block": rowsBlock, "verdicts": verdictNames}
		if m := d.Map; m != nil {
			p.Data["rows"], p.Data["columns"], p.Data["rowOf"], p.Data["columnOf"] = m.Rows, m.Columns, m.rowOf, m.columnOf
		}
	}
	page := template.Must(template.New("page").Funcs(template.FuncMap{
		"clean": visible.Line, "short": shortLine, "number": number, "percent": percent, "size": size, "last": lastOf,
	}).Parse(htmlPage))
	err := page.ExecuteTemplate(w, "head", p)
	if err == nil && d.rows != nil {
		err = d.rows.write(w)
	}
	if err != nil {
		return err
	}
	return page.ExecuteTemplate(w, "tail", p)
}

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
