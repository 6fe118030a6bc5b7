package dedup_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

// TestSeeStays checks that later documents do not change a result of See, and that Decide copies
// nothing: it allocates only the ids that it names.
func TestSeeStays(t *testing.T) {
	w := newTextWorld(7, nil)
	d, err := dedup.New(dedup.Config{Scheme: w.scheme, Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	type seen struct{ result, copied dedup.Result }
	var all []seen
	sources, shared := 0, 0
	var removed dedup.Document
	for i := range 300 {
		w.document()
		r, err := d.See(fmt.Sprint("document ", i), []byte(w.text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen{r, r.Clone()})
		if !r.Kept && len(r.SharedSegments) > 0 {
			removed = dedup.Document{ID: "again", Text: []byte(w.text)}
		}
		sources, shared = sources+len(r.Also), shared+len(r.SharedSegments)
	}
	if sources < 20 || shared < 100 {
		t.Fatalf("the texts have only %d other sources and %d shared segments", sources, shared)
	}
	for i, s := range all {
		if !reflect.DeepEqual(s.result, s.copied) {
			t.Errorf("the result of document %d was %+v, and is now %+v", i, s.copied, s.result)
		}
	}
	var r dedup.Result
	if n := testing.AllocsPerRun(20, func() { r, err = d.Judge(removed) }); err != nil || len(r.SharedSegments) == 0 || int(n) > 1+len(r.Also) {
		t.Errorf("%v allocations for a result with %d other sources, %v", n, len(r.Also), err)
	}
}
