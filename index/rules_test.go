package index

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/indextest"
)

// TestOtherRules refuses an index of other rules with a remedy. Other settings are no other rules.
func TestOtherRules(t *testing.T) {
	segments := feature.Scheme{Method: feature.Former}
	const query = "firstseen query still answers from it, by its own rules"
	for _, c := range []struct {
		name string
		make func(dir string)
		only bool // without a table
		kind error
		want string
	}{
		{"a table", func(dir string) { grown(t, dir, Options{Scheme: segments, Shape: smallIndex.Shape}, 0, 5) }, false, docmap.ErrScheme, query},
		{"a filter", func(dir string) {
			grown(t, dir, Options{Scheme: segments, FilterOnly: true, Shape: smallIndex.Shape}, 0, 5)
		}, true, bloomstore.ErrScheme, query},
		{"the rules before these", func(dir string) {
			table, err := docmap.Open(filepath.Join(dir, TableFile), docmap.Options{Scheme: "fs3-u15b-xxh3-n50-w10"})
			indextest.Must(t, err)
			indextest.Must(t, table.Close())
		}, false, docmap.ErrScheme, "or use the version of firstseen that it was made with"},
		{"rules to come", func(dir string) {
			table, err := docmap.Open(filepath.Join(dir, TableFile), docmap.Options{Scheme: "fs9-x"})
			indextest.Must(t, err)
			indextest.Must(t, table.Close())
		}, false, docmap.ErrScheme, "or use the version of firstseen that it was made with"},
	} {
		dir := t.TempDir()
		c.make(dir)
		_, err := Open(context.Background(), dir, Options{Key: KeyAsIs, FilterOnly: c.only})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "judged by fs4-u15b: build it again from the documents") || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		_, err = Open(context.Background(), dir, Options{Key: KeyAsIs, Scheme: feature.Scheme{Method: feature.Former, Segments: 7}, FilterOnly: c.only})
		if same := strings.Contains(err.Error(), "made by the rules"); same != strings.Contains(c.name, "rules") {
			t.Errorf("%s, with other settings: %v", c.name, err)
		}
	}
}

// TestRulesThatAreGone refuses an index of abandoned rules with a remedy. Its key is not blamed.
func TestRulesThatAreGone(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef")
	for _, name := range []string{"fs2-u15-siphash+highway(1d31aad5)-n50-w10", "fs2-u15-xxh3-n50-w10", "fs3-u15-xxh3-n50-w10", "fs3-u15b-xxh3-n50-w10", "fs4-u15-xxh3-n50-w10", "shingles1-u15-xxh3-w5-b42-r3"} {
		for _, k := range [][]byte{nil, key} {
			_, err := schemeNamed(name, k)
			if err == nil || !strings.Contains(err.Error(), "by the rules "+rulesOf(name)) || !strings.Contains(err.Error(), "build it again from the documents") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := schemeNamed(feature.Scheme{}.Name(), nil); err != nil {
		t.Error(err)
	}
}
