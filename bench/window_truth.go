package main

import (
	"fmt"
	"io"

	"github.com/firstseen/firstseen/bench/gen"
	"github.com/firstseen/firstseen/dedup"
)

// windowTruth checks verdicts in a window by the generator's truth: design rule 12, with times.
type windowTruth struct {
	gen         *gen.Generator
	start       int64 // no document is earlier
	window      int64 // seconds
	clock, edge int64
	// newest holds, for each source, the time of the latest kept document with four fifths of it or
	// more, itself included. Times are seconds after start, plus one; 0 for none.
	newest []uint32
	kinds  [gen.Kinds]windowCount
	wrong  []string
}

// windowCount counts documents of one kind.
type windowCount struct {
	documents, must, found, missed int64 // must: with a copy in the window
	expired                        int64 // all copies have left the window, so no witness is expected
	late, unlike                   int64 // named although outside the window, or unlike it
	template                       int64 // named although alike in a template only, which short ones share
}

func newWindowTruth(g *gen.Generator, cfg gen.Config, window int64) *windowTruth {
	t := &windowTruth{gen: g, start: cfg.Start - gen.MostDelay, window: window, newest: make([]uint32, cfg.Docs)}
	for i := range t.newest { // allocate its pages now
		t.newest[i] = 1
		t.newest[i] = 0
	}
	return t
}

// judge counts the verdict on document n. All before it were counted.
func (w *windowTruth) judge(n uint64, r *dedup.Result) {
	at := w.gen.Time(n)
	w.clock = max(w.clock, at)
	step := max(1, w.window/4096)
	w.edge = max(w.edge, (w.clock-w.window)/step*step)

	t := w.gen.Truth(n)
	source := n
	if t.Kind != gen.Unique {
		source = t.Sources[0]
	}
	c := &w.kinds[t.Kind]
	c.documents++
	there := w.newest[source] > 0 && w.start+int64(w.newest[source])-1 >= w.edge
	removed := r.Verdict == dedup.Duplicate
	switch {
	case there && mustFind(t.Kind, false):
		c.must++
		if removed {
			c.found++
		} else {
			c.missed++
			w.note(n, &t, r, "missed")
		}
	case t.Kind <= gen.Near80:
		c.expired++
	}
	w.judgeNamed(n, &t, r, c)
	if r.Kept && (t.Kind == gen.Unique || mustFind(t.Kind, false)) && at >= w.edge {
		w.newest[source] = max(w.newest[source], uint32(at-w.start)+1)
	}
}

// judgeNamed counts documents that must not be named.
func (w *windowTruth) judgeNamed(n uint64, t *gen.Truth, r *dedup.Result, c *windowCount) {
	named := r.Also
	if r.Of.Num != 0 {
		named = append(named[:len(named):len(named)], r.Of)
	}
	for i := range named {
		of, err := gen.Number(named[i].ID)
		if err != nil || of >= n || w.gen.Time(of) < w.edge {
			c.late++
			w.note(n, t, r, "names "+named[i].ID+" outside the window")
		}
	}
	if r.Verdict != dedup.Duplicate && !(t.Kind == gen.Unique && r.Verdict != dedup.Unique) {
		return
	}
	of, _ := gen.Number(r.Of.ID)
	alike := t.Kind != gen.Unique && (of == t.Sources[0] || r.Score >= t.Overlap || sameSource(w.gen, of, t))
	switch {
	case alike:
	case t.Kind == gen.Unique && min(w.gen.Clauses(n), w.gen.Clauses(of)) < fewClauses:
		c.template++
	default:
		c.unlike++
		w.note(n, t, r, "unlike")
	}
}

// fewClauses is the least number of clauses that distinguish documents by three words each.
const fewClauses = 3

func (w *windowTruth) note(n uint64, t *gen.Truth, r *dedup.Result, what string) {
	if len(w.wrong) < maxWrong {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: document %d, %v of %v: %v of %q, score %.3f", what, n, t.Kind, t.Sources, r.Verdict, r.Of.ID, r.Score))
	}
}

// evaluate adds the checks of verdicts.
func (w *windowTruth) evaluate(c *checks) {
	var sum windowCount
	for _, k := range w.kinds {
		sum.must += k.must
		sum.missed += k.missed
		sum.late += k.late
		sum.unlike += k.unlike
		sum.expired += k.expired
	}
	near := &w.kinds[gen.Near80]
	may := int64(atMost(int(near.must), newPassage))
	c.expect(sum.missed == near.missed && near.missed <= may && sum.must > 0,
		fmt.Sprintf("no duplicate inside the window missed, but for at most %d %v with a new passage", may, gen.Near80), "%d of %d", sum.missed, sum.must)
	c.expect(sum.late == 0 && sum.expired > 0, "none outside named", "%d", sum.late)
	c.expect(sum.unlike == 0, "nothing else called a duplicate", "%d", sum.unlike)
}

func (w *windowTruth) write(out io.Writer) {
	fmt.Fprint(out, "\n| kind | documents | copy in the window | found | missed | none in the window | named outside | unlike | alike by a template |\n|---|---|---|---|---|---|---|---|---|\n")
	for k := range gen.Kind(gen.Kinds) {
		c := &w.kinds[k]
		fmt.Fprintf(out, "| %v | %d | %d | %d | %d | %d | %d | %d | %d |\n", k, c.documents, c.must, c.found, c.missed, c.expired, c.late, c.unlike, c.template)
	}
	fmt.Fprintln(out)
	for _, text := range w.wrong {
		fmt.Fprintln(out, "unexpected:", text)
	}
}
