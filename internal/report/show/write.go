package show

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	html "html/template"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/firstseen/firstseen/internal/compare/textdiff"
	"github.com/firstseen/firstseen/internal/visible"
)

// Style is how text is written for people.
type Style struct {
	Columns int  // of the terminal; 0 means 80, and at least 40 are used
	Marks   bool // marked by a terminal: shared passages in another colour
}

//go:embed page.txt
var textPage string

var textTemplate = template.Must(template.New("text").Parse(textPage))

// text holds the values of the text's template, and has its functions.
type text struct {
	page
	Style
}

// WriteText writes the digest for people. Characters in ids and texts that a terminal would act on
// are written as \u and a number.
func (d *Digest) WriteText(w io.Writer, s Style) error {
	s.Columns = max(cmp.Or(s.Columns, 80), 40)
	t := text{d.page("sites", " copies "), s}
	out := bufio.NewWriter(w)
	if err := textTemplate.Execute(out, &t); err != nil {
		return err
	}
	return out.Flush()
}

// Heading is a title as the terminal shows it.
func (t *text) Heading(title string) string {
	if t.Marks {
		return "\x1b[1m" + title + "\x1b[22m"
	}
	return title
}

// Mark marks a shared part.
func (t *text) Mark(part string) string {
	if t.Marks {
		return "\x1b[7m" + part + "\x1b[27m"
	}
	return "«" + part + "»"
}

// Bar draws a bin.
func (t *text) Bar(b Bin) string {
	room := int64(t.Columns - 23)
	bar := ""
	for _, part := range []struct {
		n    int64
		mark string
	}{{b.Duplicates, "#"}, {b.Related, "o"}, {b.Mosaics, "-"}} {
		if part.n > 0 {
			bar += strings.Repeat(part.mark, int(max(1, part.n*room/t.Most)))
		}
	}
	return strings.TrimRight(fmt.Sprintf("  %.2f %10d %s", b.From, b.All(), bar), " ")
}

// Short shortens a value to fit on a line beside so many columns of other text. It keeps the end:
// paths and URLs often begin alike.
func (t *text) Short(value string, others int) string {
	value = visible.Line(value)
	if over := textdiff.Columns.StringWidth(value) - (t.Columns - others); over > 0 {
		return textdiff.Columns.TruncateLeft(value, over+1, "…")
	}
	return value
}

// Wrap is a shared part in lines.
func (t *text) Wrap(part string) []string { return wrap(visible.Line(part), t.Columns-8) }

// Sides are the ids of a document and its source, side by side.
func (t *text) Sides(e *Example) (rows []string) {
	half := (t.Columns - 5) / 2
	left, right := wrap(visible.Line(e.ID), half), wrap(visible.Line(e.source()), half)
	n := max(len(left), len(right))
	left, right = append(left, make([]string, n-len(left))...), append(right, make([]string, n-len(right))...)
	for i := range n {
		rows = append(rows, strings.TrimRight("  "+textdiff.Columns.FillRight(left[i], half)+" | "+right[i], " "))
	}
	return rows
}

// source names whom an example repeats.
func (e *Example) source() string {
	return cmp.Or(e.Of, strings.Join(e.Also, " and "))
}

// Shares are the shares of an example, in words.
func (e *Example) Shares() string {
	if e.Contained == e.Score {
		return fmt.Sprintf("score %.4g", e.Score)
	}
	return fmt.Sprintf("score %.4g, contained %.4g", e.Score, e.Contained)
}

// wrap cuts a string into lines of at most that many columns; there is at least one.
func wrap(s string, columns int) []string {
	return strings.Split(textdiff.Columns.Wrap(s, columns), "\n")
}

//go:embed page.html
var htmlPage string

var htmlTemplate = html.Must(html.New("page").Funcs(html.FuncMap{"clean": visible.Line, "percent": percent}).Parse(htmlPage))

// percent is the width of a bar, per cent of the widest.
func percent(n, most int64) float64 { return 100 * float64(n) / float64(most) }

// WriteHTML writes the digest as one page that needs nothing else: no script, no file, no network.
// Anything in ids and texts is shown and does nothing.
func (d *Digest) WriteHTML(w io.Writer, title string) error {
	sum := d.Sum()
	return htmlTemplate.Execute(w, struct {
		page
		Rows  []Total // of the totals, the sum last
		Read  bool    // whether the texts were read
		Title string
	}{d.page("site ← source", " ← "), append(slices.Clone(d.Totals), sum), sum.Bytes > 0, title})
}
