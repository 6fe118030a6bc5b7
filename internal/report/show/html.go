package show

import (
	_ "embed"
	"html/template"
	"io"
	"slices"

	"github.com/firstseen/firstseen/internal/visible"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"clean": visible.Line}).Parse(pageText))

// pageData holds the values of the page's template.
type pageData struct {
	*Digest
	Rows   []Total // of the totals, the sum last
	Read   bool    // whether the texts were read
	Title  string
	Bars   []bar
	Tables []table
	Kinds  []kind
}

// bar is a bin of the histogram; widths are per cent of the page.
type bar struct {
	From          float64
	All           int64
	Dup, Rel, Mos float64
}

type kind struct {
	Title    string
	Examples []shownExample
}

type shownExample struct {
	Example
	Shares         string
	Document, From []part // both texts, if they were read
}

// WriteHTML writes the digest as one page that needs nothing else: no script, no file, no network.
// Anything in ids and texts is shown and does nothing.
func (d *Digest) WriteHTML(w io.Writer, title string) error {
	data := pageData{Digest: d, Title: title, Bars: d.bars(), Tables: d.tables("site ← source", " ← "), Rows: append(slices.Clone(d.Totals), d.Sum())}
	data.Read = d.Sum().Bytes > 0
	for _, k := range Kinds {
		shown := kind{Title: kindTitles[k]}
		for i := range d.Examples {
			if e := d.Examples[i]; e.Kind == k {
				document, source := e.sides()
				shown.Examples = append(shown.Examples, shownExample{Example: e, Shares: e.shares(), Document: document, From: source})
			}
		}
		data.Kinds = append(data.Kinds, shown)
	}
	return page.Execute(w, data)
}

// bars are the bins as widths.
func (d *Digest) bars() (bars []bar) {
	bins, most := d.bins()
	share := func(n int64) float64 { return 100 * float64(n) / float64(most) }
	for _, b := range bins {
		bars = append(bars, bar{b.From, b.all(), share(b.Duplicates), share(b.Related), share(b.Mosaics)})
	}
	return bars
}
