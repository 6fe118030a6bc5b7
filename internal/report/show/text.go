package show

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/firstseen/firstseen/internal/compare/textdiff"
	"github.com/firstseen/firstseen/internal/visible"
)

// Style is how text is written for people.
type Style struct {
	Columns int  // of the terminal; 0 means 80, and at least 40 are used
	Marks   bool // marked by a terminal: shared passages in another colour
}

const (
	markOn, markOff   = "\x1b[7m", "\x1b[27m"
	titleOn, titleOff = "\x1b[1m", "\x1b[22m"
)

// WriteText writes the digest for people. Characters in ids and texts that a terminal would act on
// are written as \u and a number.
func (d *Digest) WriteText(w io.Writer, s Style) error {
	if s.Columns == 0 {
		s.Columns = 80
	}
	s.Columns = max(s.Columns, 40)
	t := &text{Writer: bufio.NewWriter(w), Style: s}
	t.line("%d documents are not unique: %d are removed", d.Lines, d.Removed)
	t.line("  duplicate %d (%d exact, %d of the same id), related %d, mosaic %d", d.Duplicates, d.Exact, d.SameID, d.Related, d.Mosaics)
	t.histogram(d)
	for _, counts := range d.tables("sites", " copies ") {
		t.counts(counts)
	}
	t.examples(d)
	return t.Flush()
}

type text struct {
	*bufio.Writer // Flush returns its first error
	Style
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func (t *text) title(title string) {
	if t.Marks {
		title = titleOn + title + titleOff
	}
	t.line("\n%s", title)
}

// histogram draws the bins.
func (t *text) histogram(d *Digest) {
	bins, most := d.bins()
	if len(bins) == 0 {
		return
	}
	t.title("Scores of what is no exact copy (# duplicate, o related, - mosaic)")
	room := int64(t.Columns - 20)
	for _, b := range bins {
		bar := ""
		for _, part := range []struct {
			n    int64
			mark string
		}{{b.Duplicates, "#"}, {b.Related, "o"}, {b.Mosaics, "-"}} {
			if part.n > 0 {
				bar += strings.Repeat(part.mark, int(max(1, part.n*(room-3)/most)))
			}
		}
		t.line("%s", strings.TrimRight(fmt.Sprintf("  %.2f %10d %s", b.From, b.all(), bar), " "))
	}
}

// counts writes a table of values, unless it is empty.
func (t *text) counts(all table) {
	if len(all.Counts) == 0 {
		return
	}
	t.title(all.Title)
	t.line("  %10s  %s", all.Head, all.What)
	for _, c := range all.Counts {
		about := " "
		if c.Over > 0 {
			about = "≤"
		}
		t.line("  %s%9d  %s", about, c.Count, cut(visible.Line(c.Value), t.Columns-15))
	}
}

var kindTitles = map[string]string{
	"least evidence": "Removed on the least evidence",
	"related":        "Kept, and most like another",
	"mosaic":         "Made of several others",
	spreadKind:       "From all over the report",
}

// examples writes documents and their sources side by side, and under them the shared parts, as the
// report quotes them.
func (t *text) examples(d *Digest) {
	kind := ""
	half := (t.Columns - 5) / 2
	for i := range d.Examples {
		e := &d.Examples[i]
		if e.Kind != kind {
			kind = e.Kind
			t.title(kindTitles[kind])
		}
		left, right := wrap(visible.Line(e.ID), half), wrap(visible.Line(e.source()), half)
		for row := range max(len(left), len(right)) {
			t.line("%s", strings.TrimRight("  "+pad(at(left, row), half)+" | "+at(right, row), " "))
		}
		t.line("    %s, at %s", e.shares(), cut(visible.Line(e.Where), t.Columns-30))
		for _, q := range e.Shared {
			for _, part := range wrap(visible.Line(q), t.Columns-8) {
				t.line("    %s", t.mark(part))
			}
		}
	}
}

// mark marks the shared parts.
func (t *text) mark(s string) string {
	if t.Marks {
		return markOn + s + markOff
	}
	return "«" + s + "»"
}

// source names whom an example repeats.
func (e *Example) source() string {
	if e.Of != "" {
		return e.Of
	}
	return strings.Join(e.Also, " and ")
}

// shares are the shares of an example, in words.
func (e *Example) shares() string {
	if e.Contained == e.Score {
		return fmt.Sprintf("score %.4g", e.Score)
	}
	return fmt.Sprintf("score %.4g, contained %.4g", e.Score, e.Contained)
}

// wrap cuts a string into lines of at most that many columns; there is at least one.
func wrap(s string, columns int) (all []string) {
	start, used := 0, 0
	for i, r := range s {
		n := textdiff.Columns(r)
		if used+n > columns && i > start {
			all = append(all, s[start:i])
			start, used = i, 0
		}
		used += n
	}
	return append(all, s[start:])
}

// cut returns the first line of a string, with dots if there are more.
func cut(s string, columns int) string {
	all := wrap(s, columns)
	if len(all) == 1 {
		return s
	}
	return wrap(s, columns-1)[0] + "…"
}

// pad fills a line up with spaces.
func pad(s string, columns int) string {
	for _, r := range s {
		columns -= textdiff.Columns(r)
	}
	return s + strings.Repeat(" ", max(0, columns))
}

func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}
