package eval

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

// The page is one file, with its curves as SVG and no external resources.

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Size of a chart and its inner margins, in pixels.
const (
	chartWidth, chartHeight = 460.0, 320.0
	marginLeft, marginTop   = 46.0, 14.0
	marginRight, marginLow  = 14.0, 40.0
)

// colours are distinct even without red or green (Okabe and Ito, "Color universal design", 2008).
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// dashes distinguish methods without colours.
var dashes = []string{"", "6 3", "2 3", "8 3 2 3", "1 2", "10 4"}

// A chart shows one value against another, a curve for each method.
type chart struct {
	Title, X, Y    string
	Width, Height  float64
	TicksX, TicksY []tick
	Curves         []curve
	Right, Low     float64 // edges of the plot
	Left, Top      float64

	xs, ys scale
}

// A scale is the visible part of an axis.
type scale struct{ low, high float64 }

// scaleOf returns the part of 0 to 1 that holds the values, between whole tenths.
func scaleOf(rows []*Row, of func(*Row) float64) scale {
	s := scale{1, 0}
	for _, r := range rows {
		s.low, s.high = min(s.low, clamp(of(r))), max(s.high, clamp(of(r)))
	}
	s.low, s.high = math.Floor(s.low*10+1e-9)/10, math.Ceil(s.high*10-1e-9)/10
	if s.high-s.low < 0.1 {
		s.low, s.high = max(0, s.low-0.1), max(s.high, 0.1)
	}
	return s
}

// at returns the position of a value on the scale, 0 to 1.
func (s scale) at(v float64) float64 { return (clamp(v) - s.low) / (s.high - s.low) }

// ticks returns round values on the scale.
func (s scale) ticks() (values []float64) {
	step := 0.2
	switch length := s.high - s.low; {
	case length < 0.15:
		step = 0.02
	case length < 0.35:
		step = 0.05
	case length < 0.65:
		step = 0.1
	}
	for i := int(math.Ceil(s.low/step - 1e-9)); float64(i)*step <= s.high+1e-9; i++ {
		values = append(values, float64(i)*step)
	}
	return values
}

type tick struct {
	At   float64 // in pixels
	Text string
}

type curve struct {
	Method, Colour, Dash, Points string
	Dots                         []dot
}

type dot struct {
	X, Y    float64
	Title   string
	Default bool
}

// page is the data for the template.
type page struct {
	Title   string
	Sets    []setPage
	Columns []string
	Command string
}

type setPage struct {
	Name      string
	Documents int
	Pairs     int
	Charts    []*chart
	Legend    []curve
	Rows      []rowPage
}

type rowPage struct {
	Cells   []string
	Default bool
}

// WritePage writes rows as an HTML page, with the command that made them.
func WritePage(out io.Writer, rows []*Row, command string) error {
	p := page{Title: "firstseen eval", Command: command}
	for _, c := range columns[1:] {
		p.Columns = append(p.Columns, c.name)
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Corpus == rows[0].Corpus {
			n++
		}
		p.Sets = append(p.Sets, pageOf(rows[:n]))
		rows = rows[n:]
	}
	if err := pageTemplate.Execute(out, &p); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func pageOf(rows []*Row) setPage {
	s := setPage{Name: rows[0].Corpus, Documents: rows[0].Documents, Pairs: rows[0].Alike}
	for _, r := range rows {
		cells := make([]string, 0, len(columns))
		for _, c := range columns[1:] {
			cells = append(cells, c.cell(r))
		}
		s.Rows = append(s.Rows, rowPage{cells, r.Default})
	}
	recall := func(r *Row) float64 { return r.Agreement.Recall }
	threshold := func(r *Row) float64 {
		if r.Threshold == 0 {
			return 1
		}
		return r.Threshold
	}
	s.Charts = []*chart{
		newChart("Precision and recall", "recall", "precision", rows, recall, func(r *Row) float64 { return r.Precision }),
		newChart("F1", "threshold", "F1", rows, threshold, func(r *Row) float64 { return r.F1 }),
		newChart("Adjusted Rand index", "threshold", "ARI", rows, threshold, func(r *Row) float64 { return r.ARI }),
		newChart("Removals that are grey or false", "recall", "share of removals", rows, recall, func(r *Row) float64 {
			return float64(r.Grey) / float64(max(r.Removed, 1))
		}),
	}
	for _, c := range s.Charts[0].Curves {
		s.Legend = append(s.Legend, curve{Method: c.Method, Colour: c.Colour, Dash: c.Dash})
	}
	return s
}

// newChart draws the curves of rows grouped by method.
func newChart(title, x, y string, rows []*Row, xOf, yOf func(*Row) float64) *chart {
	c := &chart{
		Title: title, X: x, Y: y, Width: chartWidth, Height: chartHeight,
		Left: marginLeft, Top: marginTop, Right: chartWidth - marginRight, Low: chartHeight - marginLow,
	}
	c.xs, c.ys = scaleOf(rows, xOf), scaleOf(rows, yOf)
	for _, v := range c.xs.ticks() {
		c.TicksX = append(c.TicksX, tick{c.x(v), fmt.Sprintf("%.3g", v)})
	}
	for _, v := range c.ys.ticks() {
		c.TicksY = append(c.TicksY, tick{c.y(v), fmt.Sprintf("%.3g", v)})
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Method == rows[0].Method {
			n++
		}
		c.add(rows[:n], xOf, yOf)
		rows = rows[n:]
	}
	return c
}

func (c *chart) x(v float64) float64 { return round(c.Left + c.xs.at(v)*(c.Right-c.Left)) }
func (c *chart) y(v float64) float64 { return round(c.Low - c.ys.at(v)*(c.Low-c.Top)) }

func clamp(v float64) float64 { return min(max(v, 0), 1) }
func round(v float64) float64 { return math.Round(10*v) / 10 }

func (c *chart) add(rows []*Row, xOf, yOf func(*Row) float64) {
	at := len(c.Curves)
	k := curve{Method: rows[0].Method, Colour: colours[at%len(colours)], Dash: dashes[at%len(dashes)]}
	var points []string
	for _, r := range rows {
		x, y := xOf(r), yOf(r)
		points = append(points, fmt.Sprintf("%g,%g", c.x(x), c.y(y)))
		k.Dots = append(k.Dots, dot{c.x(x), c.y(y), fmt.Sprintf("%s %s: %s %.4f, %s %.4f", r.Method, r.threshold(), c.X, x, c.Y, y), r.Default})
	}
	k.Points = strings.Join(points, " ")
	c.Curves = append(c.Curves, k)
}
