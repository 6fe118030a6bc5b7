package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/indextest"
)

// TestManyRunsAreOver: the last are known, as many as are promised or fit.
func TestManyRunsAreOver(t *testing.T) {
	r := newTold(t)
	r.alone = true
	const runs = maxOver + 6
	output := func(n int) [3]string { return [3]string{r.path(fmt.Sprintf("kept%d.jsonl", n))} }
	for n := range runs {
		r.command.Outputs = output(n)
		indextest.Must(t, r.run())
	}
	for n := range runs {
		r.command.Outputs = output(n)
		x, l, err := r.open()
		indextest.Must(t, err)
		stored, err := x.Value(OverName)
		indextest.Must(t, err)
		known, err := l.over()
		if err != nil || len(stored) > maxOverBytes || len(known) > maxOver || len(known) < maxOver/2 {
			t.Fatalf("%d runs in %d bytes, %v", len(known), len(stored), err)
		}
		t.Logf("%d runs in %d bytes", len(known), len(stored))
		over, _, err := l.Over()
		if err != nil || (over != nil) != (n >= runs-len(known)) {
			t.Errorf("run %d of %d, of which %d are known: %+v, %v", n, runs, len(known), over, err)
		}
		indextest.Must(t, errors.Join(err, x.Close(false)))
	}
}

// TestRunsThatAreOverFit: what would not fit into a filter's stamp is left out, the first first.
func TestRunsThatAreOverFit(t *testing.T) {
	r := newTold(t)
	r.alone = true
	long := make([]over, 39)
	for i := range long {
		long[i].Command = strings.Repeat("c", 1000)
	}
	stored, err := json.Marshal(long)
	indextest.Must(t, err)
	x, _, err := r.open()
	indextest.Must(t, err)
	indextest.Must(t, x.Begin(index.Policy{OnFull: index.OnFullWarn}))
	indextest.Must(t, errors.Join(x.Finish(map[string][]byte{OverName: stored}), x.Close(false)))
	indextest.Must(t, r.run())
	x, l, err := r.open()
	indextest.Must(t, err)
	defer x.Close(false)
	stored, err = x.Value(OverName)
	indextest.Must(t, err)
	known, err := l.over()
	if err != nil || len(stored) > maxOverBytes || len(stored) < maxOverBytes-2000 || len(known) == len(long)+1 {
		t.Errorf("%d runs in %d bytes, %v", len(known), len(stored), err)
	}
	if tally, _, err := l.Over(); tally == nil || err != nil {
		t.Errorf("the last is not known: %v, %v", tally, err)
	}
}
