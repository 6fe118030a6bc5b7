package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

// TestGroups: the first values have counts of their own, also after a checkpoint, and no
// document is counted twice or nowhere.
func TestGroups(t *testing.T) {
	g := &Groups{Field: "lang"}
	count := func(g *Groups, from, to int) {
		for i := from; i < to; i++ {
			g.Count(fmt.Append(nil, "value ", i%(MostGroups+500)), &dedup.Result{Kept: i%3 > 0})
			if i%10 == 0 {
				g.Count(nil, &dedup.Result{Verdict: dedup.Duplicate})
			}
		}
	}
	count(g, 0, 2000)
	stored, err := json.Marshal(g.Clone())
	if err != nil {
		t.Fatal(err)
	}
	resumed := new(Groups)
	if err := json.Unmarshal(stored, resumed); err != nil {
		t.Fatal(err)
	}
	count(g, 2000, 3000)
	count(resumed, 2000, 3000)
	var texts [2]bytes.Buffer
	for i, g := range []*Groups{g, resumed} {
		var all Tally
		for j := range g.List {
			all.add(&g.List[j].Tally)
		}
		if len(g.List) != MostGroups || all.Documents != 2000 || g.Others.Documents != 1000 || g.None.Documents != 300 || g.None.Removed != 300 {
			t.Errorf("%d groups with %+v, others %+v, none %+v", len(g.List), all, g.Others, g.None)
		}
		g.WriteText(&texts[i])
	}
	if texts[0].String() != texts[1].String() || strings.Count(texts[0].String(), "\n") != shownGroups+3 {
		t.Errorf("%s\n%s", texts[0].String(), texts[1].String())
	}
}
