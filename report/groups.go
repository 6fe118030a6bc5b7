package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/firstseen/firstseen/dedup"
)

// Groups are the counts of a run by a value of its documents, such as their language. The first
// MostGroups values met have counts of their own, and all others are counted together. So the
// counts depend on the documents and their order alone. Groups are part of a checkpoint.
type Groups struct {
	Field  string  `json:"field"`
	List   []Group `json:"groups"`          // in the order of first meeting
	None   Tally   `json:"none,omitzero"`   // documents without a value
	Others Tally   `json:"others,omitzero"` // documents of further values

	at map[string]int // in List
}

// Group is the counts of one value. Bad records and bytes are not counted.
type Group struct {
	Value string `json:"value"`
	Tally
}

// MostGroups is how many values are counted for themselves; a value is cut to
// MaxGroupBytes.
const (
	MostGroups    = 1000
	MaxGroupBytes = 200
)

// Count counts a document with a value; nil is none.
func (g *Groups) Count(value []byte, r *dedup.Result) {
	g.tally(value).Count(r)
}

func (g *Groups) tally(value []byte) *Tally {
	if value == nil {
		return &g.None
	}
	if g.at == nil {
		g.at = make(map[string]int, len(g.List))
		for i := range g.List {
			g.at[g.List[i].Value] = i
		}
	}
	i, known := g.at[string(value)]
	switch {
	case known:
	case len(g.List) == MostGroups:
		return &g.Others
	default:
		i = len(g.List)
		g.List = append(g.List, Group{Value: string(value)})
		g.at[g.List[i].Value] = i
	}
	return &g.List[i].Tally
}

// Clone is a copy that does not change when this one does.
func (g *Groups) Clone() *Groups {
	if g == nil {
		return nil
	}
	return &Groups{Field: g.Field, List: slices.Clone(g.List), None: g.None, Others: g.Others}
}

// shownGroups is how many groups are shown to people.
const shownGroups = 20

// WriteText writes the groups for people, those with most documents first.
func (g *Groups) WriteText(w io.Writer) {
	sorted := slices.Clone(g.List)
	slices.SortStableFunc(sorted, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Value, b.Value))
	})
	fmt.Fprintf(w, "by %s:\n", g.Field)
	rest := g.Others
	for i := range sorted {
		if i >= shownGroups {
			rest.add(&sorted[i].Tally)
			continue
		}
		writeGroup(w, fmt.Sprintf("%q", sorted[i].Value), &sorted[i].Tally)
	}
	if rest.Documents > 0 {
		writeGroup(w, "others", &rest)
	}
	if g.None.Documents > 0 {
		writeGroup(w, "none", &g.None)
	}
}

func writeGroup(w io.Writer, name string, t *Tally) {
	fmt.Fprintf(w, "  %s: %d documents, %d kept, %d removed (%s)\n", name, t.Documents, t.Kept, t.Removed, percent(t.Removed, t.Documents))
}

func (t *Tally) add(o *Tally) {
	t.Documents += o.Documents
	t.Kept += o.Kept
	t.Removed += o.Removed
}
