package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// A madeCut is a line of the list written by firstseen report cut.
type madeCut struct {
	ID         string
	Start, End int
	Of         string
	OfStart    int `json:"of_start"`
	Dropped    bool
}

// checkCuts checks the output of firstseen report cut word by word. Each document keeps exactly its words
// that were not cut. Each cut word is in an earlier document, written or likewise cut there. IDs
// must be distinct.
func checkCuts(reports map[string]*lines.Line, docs []idText, cut, list string, out io.Writer) error {
	c := cutCheck{reports: reports, cuts: map[string][]madeCut{}, stands: map[string]*standing{}}
	if err := c.readCuts(list); err != nil {
		return err
	}
	written, err := readTexts(cut)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if line := reports[d.ID]; line != nil && !line.Kept {
			continue
		}
		var after *idText
		if len(written) > 0 && written[0].ID == d.ID {
			after, written = &written[0], written[1:]
		}
		c.document(d, after)
	}
	fmt.Fprintf(out, "%d documents, %d dropped, %d cuts of %d words\n", c.documents, c.dropped, c.made, c.words)
	fmt.Fprintf(out, "documents of other words than theirs without the cuts: %d; words cut that stand nowhere: %d; unexpected documents: %d\n", c.differ, c.lost, len(written))
	return nil
}

type cutCheck struct {
	reports map[string]*lines.Line
	cuts    map[string][]madeCut
	stands  map[string]*standing

	documents, dropped, made, words, differ, lost int
}

// standing marks the words of a document that are in the output.
type standing struct {
	forms  []string
	starts []int
	stand  []bool
}

func (c *cutCheck) readCuts(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	for dec := json.NewDecoder(f); ; {
		var m madeCut
		if err := dec.Decode(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		c.cuts[m.ID] = append(c.cuts[m.ID], m)
	}
}

// document checks a document against its output, nil for none.
func (c *cutCheck) document(d idText, after *idText) {
	t := units.New()
	t.Read([]byte(d.Text))
	s := &standing{starts: startsOf(t), stand: make([]bool, t.Len())}
	for i := range t.Len() {
		s.forms = append(s.forms, string(t.Form(i)))
	}
	c.documents++
	c.stands[d.ID] = s
	if after == nil {
		if c.dropped++; len(c.cuts[d.ID]) == 0 || !c.cuts[d.ID][0].Dropped {
			c.differ++
		}
		return
	}
	var rest []string
	cut := make([]bool, t.Len())
	for _, m := range c.cuts[d.ID] {
		c.made++
		from, _ := slices.BinarySearch(s.starts, m.Start)
		to, _ := slices.BinarySearch(s.starts, m.End)
		c.words += to - from
		of, first := c.stands[m.Of], c.earlier(d.ID, s, m)
		for i := from; i < to; i++ {
			cut[i] = true
			at := first + i
			s.stand[i] = of != nil && at >= 0 && at < len(of.forms) && of.stand[at] && of.forms[at] == s.forms[i]
			if !s.stand[i] {
				c.lost++
			}
		}
	}
	for i := range s.forms {
		if !cut[i] {
			rest, s.stand[i] = append(rest, s.forms[i]), true
		}
	}
	t.Read([]byte(after.Text))
	var written []string
	for i := range t.Len() {
		written = append(written, string(t.Form(i)))
	}
	// An overlong segment is cut anywhere, so a word may become two.
	same := slices.Equal(written, rest) || len(written) > len(rest) && strings.Join(written, "") == strings.Join(rest, "")
	if !same {
		c.differ++
	}
}

// earlier returns the distance, in words, from the passage of a cut to its source.
func (c *cutCheck) earlier(id string, s *standing, m madeCut) int {
	line := c.reports[id]
	if line == nil {
		return -1 << 40
	}
	for _, p := range line.Passages {
		if p.Start <= m.Start && m.End <= p.End && p.Of == m.Of && int(p.OfStart) == m.OfStart {
			own, _ := slices.BinarySearch(s.starts, p.Start)
			of, _ := slices.BinarySearch(c.stands[p.Of].starts, int(p.OfStart))
			return of - own
		}
	}
	return -1 << 40
}
