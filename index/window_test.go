package index

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/indextest"
)

// A filter that is full of what does not count any more is made anew, whatever else would
// be done, and a memory of all that is kept lets go of it.
func TestWindowRenews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scheme feature.Scheme
		full   OnFull
	}{"stop": {full: OnFullStop}, "grow": {full: OnFullGrow}, "memory": {scheme: feature.Scheme{Method: "simhash"}}} {
		x, err := Open(filepath.Join(t.TempDir(), "index"), Options{Scheme: c.scheme, Shape: bloomstore.ForItems(1500), MemtableKeys: 400})
		indextest.Must(t, err)
		indextest.Must(t, x.Begin(Policy{Window: 40, TellsTimes: true, OnFull: c.full}))
		extractor, err := feature.NewExtractor(x.Scheme())
		indextest.Must(t, err)
		size := x.State().Bytes
		for i := range 600 {
			text := indextest.Sentences(i)
			if i%3 == 2 {
				text = indextest.Sentences(i - 1 - i%2*60) // of the one before, or one that is not there any more
			}
			var set feature.Set
			extractor.Extract(&set, []byte(text))
			r, err := x.Decide(dedup.Document{ID: fmt.Sprint(i), Sketch: &set, Added: AppendTime(nil, 1_600_000_000+int64(i))})
			indextest.Must(t, err)
			if want := i%3 != 2 || i%2 == 1; r.Kept != want {
				t.Fatalf("%s: document %d: kept %v, want %v: %+v", name, i, r.Kept, want, r)
			}
			indextest.Must(t, x.Answered(100))
		}
		if x.Grown() > 0 || x.State().Bytes != size || x.TableStats().Window.Expired < 300 {
			t.Errorf("%s: grown %d times, from %d to %d bytes; %v", name, x.Grown(), size, x.State().Bytes, x.TableStats().Window)
		}
		indextest.Must(t, x.Close(false))
	}
}
