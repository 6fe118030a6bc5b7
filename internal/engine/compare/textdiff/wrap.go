package textdiff

import (
	"io"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// cell is a rune to print.
type cell struct {
	r      rune
	state  state
	marked bool // in a marked range
}

// row is one line of a column.
type row []cell

func textRow(s string) (r row) {
	for _, c := range s {
		r = append(r, cell{r: c, state: aligned})
	}
	return r
}

// Columns measures the width of text on a terminal, in any locale.
var Columns = runewidth.Condition{StrictEmojiNeutral: true}

// Plain replaces a rune that a terminal cannot show within a line.
func Plain(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return '·'
	}
	return r
}

func (r row) columns() (n int) {
	for _, c := range r {
		n += Columns.RuneWidth(c.r)
	}
	return n
}

// wrap breaks cells into rows of the given columns: at a line's end, else after the last space,
// else anywhere. It leaves out empty lines.
func wrap(cells []cell, columns int) (rows []row) {
	var line row
	width := 0 // of line
	end := func(rest row) {
		if len(line) > 0 {
			rows = append(rows, line)
		}
		line, width = rest, rest.columns()
	}
	for _, c := range cells {
		switch {
		case c.r == '\n':
			end(nil)
			continue
		case unicode.IsSpace(c.r) && len(line) == 0:
			continue
		}
		c.r = Plain(c.r)
		own := Columns.RuneWidth(c.r)
		if width+own > columns {
			end(line.split())
		}
		line, width = append(line, c), width+own
	}
	end(nil)
	return rows
}

// split cuts the row after the last space of its second half and returns the rest, if there is one.
func (r *row) split() (rest row) {
	for i := len(*r) - 1; i > len(*r)/2; i-- {
		if (*r)[i].r == ' ' {
			rest = append(rest, (*r)[i+1:]...)
			*r = (*r)[:i]
			return rest
		}
	}
	return nil
}

// rowPair is one line across both columns.
type rowPair struct {
	left, right row
	alike       bool
}

func (r *rowPair) write(w io.Writer, columns int, style Style) error {
	left := r.left.print(style) + strings.Repeat(" ", columns-r.left.columns())
	_, err := io.WriteString(w, strings.TrimRight(left+" │ "+r.right.print(style), " ")+"\n")
	return err
}

const plain = "\x1b[0m"

// colour returns the escape sequence for the colour of a cell.
func (c *cell) colour() string {
	switch {
	case c.state == onlyHere:
		return "\x1b[31m"
	case c.state == elsewhere:
		return "\x1b[33m"
	case c.marked:
		return "\x1b[32m"
	}
	return plain
}

// print returns the row with its colours.
func (r row) print(style Style) string {
	var b strings.Builder
	at := plain
	for _, c := range r {
		if colour := c.colour(); style.Color && colour != at {
			at = colour
			b.WriteString(at)
		}
		b.WriteRune(c.r)
	}
	if at != plain {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}
