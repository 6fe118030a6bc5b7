package index

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestReadMade reads the properties that an index was made with. An empty folder has none.
func TestReadMade(t *testing.T) {
	dir := t.TempDir()
	for name, o := range map[string]Options{
		"default":     smallIndex,
		"keyed":       {Key: KeyNew, Shape: smallIndex.Shape},
		"settings":    {Key: KeyAsIs, Shape: smallIndex.Shape, Scheme: feature.Scheme{Segments: 7, MinWidth: 12}},
		"shingles":    {Key: KeyNew, Shape: smallIndex.Shape, Scheme: feature.Scheme{Method: "shingles", Shingle: 4}},
		"filter only": {Key: KeyNew, Shape: smallIndex.Shape, FilterOnly: true},
	} {
		at := filepath.Join(dir, name)
		x, err := Open(context.Background(), at, o)
		indextest.Must(t, err)
		if !o.FilterOnly {
			indextest.Must(t, x.Begin(Policy{Window: 3600}))
		}
		indextest.Must(t, x.Finish(nil))
		indextest.Must(t, x.Close())
		made, err := ReadMade(at)
		if err != nil || made == nil {
			t.Fatalf("%s: %v, %v", name, made, err)
		}
		if made.Scheme.Name() != o.Scheme.Name() || made.FilterOnly != o.FilterOnly || (made.Window == 3600) == o.FilterOnly {
			t.Errorf("%s: it was made with %s, and %+v is read", name, o.Scheme.Name(), made)
		}
	}
	indextest.Must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o777))
	for _, name := range []string{"empty", "nowhere"} {
		if made, err := ReadMade(filepath.Join(dir, name)); made != nil || err != nil || Exists(filepath.Join(dir, name)) {
			t.Errorf("%s: %v, %v", name, made, err)
		}
	}
}
