package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// checkedPassages compares a report's passages with the texts, and with a table of all rows of
// least words. The documents are JSON lines with an ID and a text; IDs must be distinct. With the
// output of firstseen report cut and its list it checks these too.
func checkedPassages(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("passages", flag.ContinueOnError)
	least := fs.Int("least", passages.Least, "fewest words of a passage")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 2 && fs.NArg() != 4 {
		return fmt.Errorf("want the report of dedup --passages and its input, and the output of firstseen report cut and its list, if any: passages [-least N] REPORT INPUT [OUT LIST]")
	}
	c := &passageCheck{least: *least, texts: map[string]string{}, lines: map[string]*lines.Line{}, rows: map[uint64]struct{}{}}
	docs, err := readTexts(fs.Arg(1))
	if err != nil {
		return err
	}
	for _, d := range docs {
		c.texts[d.ID] = d.Text
	}
	reports, err := lines.Open(fs.Args()[:1], nil)
	if err != nil {
		return err
	}
	for l, err := range reports.All(ctx) {
		if err != nil {
			return err
		}
		c.lines[l.ID] = l
	}
	d, e := units.New(), units.New()
	for i := range docs {
		if line := c.lines[docs[i].ID]; line == nil || line.Kept {
			c.document(d, e, docs[i].Text, line)
		}
	}
	fmt.Fprintf(out, "%d kept documents of %d words; %d passages, %d of them with places in the earlier text\n", c.kept, c.words, c.passages, c.placed)
	fmt.Fprintf(out, "words in rows of %d that an earlier kept document has: %d; found of these: %d (%.2f%%); found beside them: %d\n",
		*least, c.want, c.found, 100*float64(c.found)/float64(max(c.want, 1)), c.extra)
	fmt.Fprintf(out, "passages that differ from their earlier text: %d; out of order or too short: %d\n", c.differ, c.misplaced)
	if fs.NArg() == 4 {
		return checkCuts(c.lines, docs, fs.Arg(2), fs.Arg(3), out)
	}
	return nil
}

// passageCheck holds the table and the counts.
type passageCheck struct {
	least int
	texts map[string]string
	lines map[string]*lines.Line
	rows  map[uint64]struct{} // hashes of all rows of least words of kept documents so far

	kept, words, passages, placed int
	want, found, extra            int
	differ, misplaced             int
}

// document checks a kept document, and adds its rows.
func (c *passageCheck) document(d, e *units.Text, text string, line *lines.Line) {
	d.Read([]byte(text))
	c.kept++
	c.words += d.Len()
	hashes := make([]uint64, d.Len())
	for i := range hashes {
		hashes[i] = xxh3.Hash(d.Form(i))
	}
	rows := rowsOf(hashes, c.least)
	want, found := make([]bool, d.Len()), make([]bool, d.Len())
	for i, row := range rows {
		if _, ok := c.rows[row]; ok {
			for j := range c.least {
				want[i+j] = true
			}
		}
	}
	if line != nil {
		starts := startsOf(d)
		end := 0
		for i := range line.Passages {
			c.passage(d, e, &line.Passages[i], starts, found, &end)
		}
	}
	for i := range want {
		switch {
		case want[i] && found[i]:
			c.found++
			c.want++
		case want[i]:
			c.want++
		case found[i]:
			c.extra++
		}
	}
	for _, row := range rows {
		c.rows[row] = struct{}{}
	}
}

// passage checks one passage, and marks its words.
func (c *passageCheck) passage(d, e *units.Text, p *report.Passage, starts []int, found []bool, end *int) {
	c.passages++
	from, _ := slices.BinarySearch(starts, p.Start)
	to, _ := slices.BinarySearch(starts, p.End)
	if p.Start < *end || to-from != p.Units || from >= to || starts[from] != p.Start {
		c.misplaced++
		return
	}
	*end = p.End
	for i := from; i < to; i++ {
		found[i] = true
	}
	if p.Inner {
		return
	}
	c.placed++
	e.Read([]byte(c.texts[p.Of])) // the whole text, since a line end depends on its context
	ofStarts := startsOf(e)
	of, _ := slices.BinarySearch(ofStarts, int(p.OfStart))
	for i := from; i < to; i++ {
		if of+i-from >= e.Len() || string(d.Form(i)) != string(e.Form(of+i-from)) {
			c.differ++
			return
		}
	}
}

// startsOf returns the code point at which each word begins.
func startsOf(t *units.Text) []int {
	starts := make([]int, t.Len())
	for i := range starts {
		starts[i], _ = t.Points(t.Range(i, i+1))
	}
	return starts
}

// rowsOf returns a hash of each row of n words.
func rowsOf(hashes []uint64, n int) (rows []uint64) {
	const multiplier = 0x9E3779B97F4A7C15
	var h, power uint64 = 0, 1
	for range n {
		power *= multiplier
	}
	for i, w := range hashes {
		if h = h*multiplier + w; i >= n {
			h -= power * hashes[i-n]
		}
		if i >= n-1 {
			rows = append(rows, h)
		}
	}
	return rows
}
