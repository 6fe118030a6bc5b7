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

// bar is a bin of the histogram; widths are per cent of the page.
type bar struct {
	From          float64
	All           int64
	Dup, Rel, Mos float64
}

// WriteHTML writes the digest as one page that needs nothing else: no script, no file, no network.
// Anything in ids and texts is shown and does nothing.
func (d *Digest) WriteHTML(w io.Writer, title string) error {
	return page.Execute(w, struct {
		*Digest
		Rows   []Total // of the totals, the sum last
		Read   bool    // whether the texts were read
		Title  string
		Bars   []bar
		Tables []table
		Kinds  []kind
	}{d, append(slices.Clone(d.Totals), d.Sum()), d.Sum().Bytes > 0, title, d.bars(), d.tables("site ← source", " ← "), d.kinds()})
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
