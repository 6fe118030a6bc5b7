// Package textdiff prints two texts side by side, to show their common parts.
package textdiff

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// Style controls the output of [Write].
type Style struct {
	Width int  // columns of both texts together, at least 20
	Color bool // mark by colours, not by brackets
	Whole bool // do not fold alike text
	// Left and Right are ascending byte ranges to mark by « » or green, such as shared segments.
	Left, Right [][2]int
}

// foldRows is the number of alike rows from which only the first and the last are printed.
const foldRows = 5

// Write prints two texts. It marks text of one side alone by ⟦ ⟧ or red, and text elsewhere on the
// other side by ⟨ ⟩ or yellow. Lines that begin alike begin in one row.
func Write(w io.Writer, left, right string, style Style) error {
	column := (max(style.Width, 20) - 3) / 2
	rows := rowsOf(left, right, column, style)
	for len(rows) > 0 {
		n := 0
		for n < len(rows) && rows[n].alike {
			n++
		}
		shown := rows[:max(n, 1)]
		rows = rows[len(shown):]
		if n >= foldRows && !style.Whole {
			note := wrap(textRow(fmt.Sprintf("… %d rows alike", n-2)), column)[0]
			shown = []rowPair{shown[0], {left: note, right: note}, shown[n-1]}
		}
		for _, r := range shown {
			if err := r.write(w, column, style); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf lays out both texts in columns of a width.
func rowsOf(left, right string, column int, style Style) (rows []rowPair) {
	a, b := newSide(left), newSide(right)
	a.mark(b)
	a.markRanges(style.Left)
	b.markRanges(style.Right)
	for _, block := range blocks(a, b) {
		x := wrap(a.cells(block.a, block.aEnd, style), column)
		y := wrap(b.cells(block.b, block.bEnd, style), column)
		same := a.alike(block.a, block.aEnd) && b.alike(block.b, block.bEnd)
		n := max(len(x), len(y))
		x, y = append(x, make([]row, n-len(x))...), append(y, make([]row, n-len(y))...)
		for i := range n {
			rows = append(rows, rowPair{x[i], y[i], same})
		}
	}
	return rows
}

// state is a unit's relation to the other text.
type state uint8

const (
	onlyHere state = iota
	elsewhere
	aligned
)

// side is one of the two texts.
type side struct {
	text   string
	units  []string
	spans  [][2]int // byte range of each unit
	states []state
	match  []int // on the left side, the counterpart of each unit, or -1
	// Byte offsets of the beginnings and ends of marked ranges.
	begins, ends map[int]bool
	inside       bool // the last cell is in a marked range
}

func newSide(text string) *side {
	s := &side{text: text}
	for start, end := range similarity.Spans(text) {
		s.spans = append(s.spans, [2]int{start, end})
		s.units = append(s.units, similarity.Form(text[start:end]))
	}
	s.states = make([]state, len(s.units))
	return s
}

// mark sets the states of both sides, and the matches of this one.
func (s *side) mark(other *side) {
	s.match = align(s.units, other.units)
	s.markRuns(other)
	other.markRuns(s)
	for i, j := range s.match {
		if j >= 0 {
			s.states[i], other.states[j] = aligned, aligned
		}
	}
}

// markRuns marks the units of runs that the other side has anywhere.
func (s *side) markRuns(other *side) {
	runs := once(other.units, longestRun)
	for i := 0; i+longestRun <= len(s.units); i++ {
		if _, ok := runs[runOf(s.units[i:i+longestRun])]; ok {
			for k := range longestRun {
				s.states[i+k] = elsewhere
			}
		}
	}
}

// markRanges records the marked ranges, without the white space around them.
func (s *side) markRanges(ranges [][2]int) {
	s.begins, s.ends = map[int]bool{}, map[int]bool{}
	end := 0
	for _, r := range ranges {
		if r[0] < end || r[1] > len(s.text) {
			continue
		}
		whole := s.text[r[0]:r[1]]
		from := r[0] + len(whole) - len(strings.TrimLeft(whole, " \t\r\n"))
		to := r[0] + len(strings.TrimRight(whole, " \t\r\n"))
		if from < to {
			s.begins[from], s.ends[to] = true, true
			end = to
		}
	}
}

// alike reports whether all units of text[from:to] are aligned.
func (s *side) alike(from, to int) bool {
	return !slices.ContainsFunc(s.stretches(from, to), func(p stretch) bool { return p.state != aligned })
}

// block is a part of both texts that begins in one row: text[a:aEnd] and text[b:bEnd].
type block struct{ a, aEnd, b, bEnd int }

// blocks cuts both texts at each pair of lines, or sentences, that begin with aligned units.
func blocks(a, b *side) (all []block) {
	var at block // ends where the next one begins
	cut := func(x, y int) {
		if at = (block{at.aEnd, x, at.bEnd, y}); at.a != x || at.b != y {
			all = append(all, at)
		}
	}
	for i, j := range a.match {
		if j < 0 {
			continue
		}
		if x, y := a.begin(i), b.begin(j); x > 0 && y > 0 {
			cut(x, y)
		}
	}
	cut(len(a.text), len(b.text))
	return all
}

// begin returns the byte offset of the line or sentence that begins with unit i, or 0 if none does.
func (s *side) begin(i int) int {
	if i == 0 {
		return 0
	}
	from, to := s.spans[i-1][1], s.spans[i][0]
	between := s.text[from:to]
	at := strings.LastIndexAny(between, "\n。！？")
	if at < 0 && strings.Contains(between, " ") {
		at = strings.LastIndexAny(between, ".!?")
	}
	if at < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(between[at:])
	return from + at + size
}

// stretch is a part of a text in one state: text[from:to].
type stretch struct {
	from, to int
	state    state
}

// stretches cuts text[from:to] at changes of state. Text between two units of one state has that
// state. Other text between units counts as aligned.
func (s *side) stretches(from, to int) (all []stretch) {
	add := func(to int, at state) {
		if n := len(all); n > 0 && all[n-1].state == at {
			all[n-1].to = to
		} else if from < to {
			all = append(all, stretch{from, to, at})
		}
		from = to
	}
	i, _ := slices.BinarySearchFunc(s.spans, from, func(span [2]int, at int) int { return span[0] - at })
	at := aligned
	for ; i < len(s.spans) && s.spans[i][1] <= to; i++ {
		between := aligned
		if s.states[i] == at {
			between = at
		}
		at = s.states[i]
		add(s.spans[i][0], between)
		add(s.spans[i][1], at)
	}
	add(to, aligned)
	return all
}

// brackets holds the marks around text in a state.
var brackets = map[state][2]rune{onlyHere: {'⟦', '⟧'}, elsewhere: {'⟨', '⟩'}}

// cells returns the runes of text[from:to] with their marks.
func (s *side) cells(from, to int, style Style) (out []cell) {
	mark := func(r rune, at state) {
		if !style.Color && r != 0 {
			out = append(out, cell{r: r, state: at})
		}
	}
	end := func(at int) {
		if s.inside && s.ends[at] {
			s.inside = false
			mark('»', aligned)
		}
	}
	for _, p := range s.stretches(from, to) {
		mark(brackets[p.state][0], p.state)
		for i, r := range s.text[p.from:p.to] {
			end(p.from + i)
			if s.begins[p.from+i] {
				s.inside = true
				mark('«', aligned)
			}
			out = append(out, cell{r, p.state, s.inside})
		}
		end(p.to)
		mark(brackets[p.state][1], p.state)
	}
	return out
}

// Part is a part of a text with one relation to the other text.
type Part struct {
	Text  string `json:"text"`
	Only  bool   `json:"only,omitempty"`  // the other text lacks it
	Moved bool   `json:"moved,omitempty"` // the other text has it elsewhere
}

// Parts divides all of each text into parts: shared, shared but elsewhere, or in one text only.
func Parts(left, right string) (a, b []Part) {
	x, y := newSide(left), newSide(right)
	x.mark(y)
	return x.parts(0, len(left)), y.parts(0, len(right))
}

// Row holds the parts of two texts that begin side by side. If Folded is not 0, it stands for that
// many rows in which both texts are alike, and has no parts.
type Row struct {
	Left, Right []Part
	Folded      int
}

// Rows divides two texts into rows, at lines or sentences that begin alike. Of four or more alike
// rows, all but the first and the last are folded. Without folds, the parts of a side are its text.
func Rows(left, right string) (rows []Row) {
	a, b := newSide(left), newSide(right)
	a.mark(b)
	all := blocks(a, b)
	for len(all) > 0 {
		n := 0
		for n < len(all) && a.alike(all[n].a, all[n].aEnd) && b.alike(all[n].b, all[n].bEnd) {
			n++
		}
		shown := all[:max(n, 1)]
		all = all[len(shown):]
		for i, block := range shown {
			switch {
			case n < foldRows-1 || i == 0 || i == n-1:
				rows = append(rows, Row{a.parts(block.a, block.aEnd), b.parts(block.b, block.bEnd), 0})
			case i == 1:
				rows = append(rows, Row{Folded: n - 2})
			}
		}
	}
	return rows
}

func (s *side) parts(from, to int) (all []Part) {
	for _, p := range s.stretches(from, to) {
		all = append(all, Part{s.text[p.from:p.to], p.state == onlyHere, p.state == elsewhere})
	}
	return all
}
