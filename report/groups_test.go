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

// TestGroupsInText: those with most documents first, of equals by their values, and behind
// them all others, so that no document is missing. A copy stays as it is.
func TestGroupsInText(t *testing.T) {
	g := &Groups{Field: "lang"}
	count := func(value string, n int) {
		for range n {
			g.Count([]byte(value), &dedup.Result{Kept: true})
		}
	}
	for i := range 26 {
		count(string(rune('z'-i)), 1+(i+1)/25*4) // b and a have 5
	}
	copied := g.Clone()
	count("z", 3)
	if copied.List[0].Documents != 1 || g.List[0].Documents != 4 {
		t.Errorf("a copy counts %d, and %d are counted", copied.List[0].Documents, g.List[0].Documents)
	}
	var b bytes.Buffer
	g.WriteText(&b)
	names, documents := "", 0
	for line := range strings.Lines(b.String()) {
		var name string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d documents", &name, &n); err == nil {
			names, documents = names+strings.Trim(name, "\":"), documents+n
		}
	}
	if names != "abzcdefghijklmnopqrs"+"others" || documents != 24+2*5+3 {
		t.Errorf("%s, %d documents of %d\n%s", names, documents, 24+2*5+3, &b)
	}
}
