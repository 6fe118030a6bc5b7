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

type table struct {
	Title, Head, What string
	Counts            []Count
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
	data := pageData{Digest: d, Title: title, Bars: d.bars(), Rows: append(slices.Clone(d.Totals), d.Sum())}
	data.Read = d.Sum().Bytes > 0
	copies := make([]Count, len(d.Copies))
	for i, c := range d.Copies {
		copies[i] = Count{c.Site + " ← " + c.Of, c.Count, c.Over}
	}
	data.Tables = []table{
		{"Copied most", "copies", "document", d.Documents},
		{"Copied most, by site", "copies", "site", d.Sites},
		{"Who copies whom", "copies", "site ← source", copies},
		{"Removed most, by input", "removed", "input", d.Files},
	}
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

// bars are the bins from the first to the last that has something.
func (d *Digest) bars() (bars []bar) {
	most := int64(0)
	for i := range d.Histogram {
		most = max(most, d.Histogram[i].all())
	}
	last := 0
	for i := range d.Histogram {
		b := &d.Histogram[i]
		if b.all() == 0 && len(bars) == 0 {
			continue
		}
		share := func(n int64) float64 { return 100 * float64(n) / float64(max(most, 1)) }
		bars = append(bars, bar{b.From, b.all(), share(b.Duplicates), share(b.Related), share(b.Mosaics)})
		if b.all() > 0 {
			last = len(bars)
		}
	}
	return bars[:last]
}
