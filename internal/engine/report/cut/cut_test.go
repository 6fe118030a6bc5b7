package cut_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/cut"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

func sentence(prefix string, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint(prefix, i))
	}
	return strings.Join(words, " ")
}

// TestDroppedDocumentsKeepNothing checks that a passage is cut only if its source is written.
func TestDroppedDocumentsKeepNothing(t *testing.T) {
	a, b := sentence("a", 60), sentence("b", 30)
	texts := []string{a, a + ". " + b, b + ". " + sentence("c", 100)}
	all := []*lines.Line{
		nil,
		{ID: "1", Kept: true, Passages: []report.Passage{{End: len(a), Of: "0", OfEnd: report.Offset(len(a)), Units: 60}}},
		{ID: "2", Kept: true, Passages: []report.Passage{{End: len(b), Of: "1", OfStart: report.Offset(len(a) + 2), OfEnd: report.Offset(len(a) + 2 + len(b)), Units: 30}}},
	}
	for _, least := range []int{0, 50} {
		p, err := cut.NewPlan(cut.Options{Remove: cut.All, DropBelow: least}, func(yield func(*lines.Line, error) bool) {
			for _, l := range all[1:] {
				if !yield(l, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var cuts []int
		for i, text := range texts {
			made, drop, err := p.Document(fmt.Sprint(i), []byte(text), all[i])
			if err != nil || drop != (least > 0 && i == 1) {
				t.Fatalf("document %d: dropped %v, %v", i, drop, err)
			}
			cuts = append(cuts, len(made))
		}
		want := 1
		if least > 0 {
			want = 0
		}
		if cuts[1] != 1 || cuts[2] != want || p.Counts.Absent != int64(1-want) {
			t.Errorf("with fewer than %d words dropped: cuts %v, %+v", least, cuts, p.Counts)
		}
	}
}
