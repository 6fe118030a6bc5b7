package index

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestOtherRules refuses an index of other rules, with the command that makes it anew. Other settings
// are no other rules.
func TestOtherRules(t *testing.T) {
	for _, c := range []struct {
		scheme string
		only   bool // without a table
		kind   error
	}{
		{"fs1-u15b-xxh3-n50-w10", false, docmap.ErrScheme},
		{"fs1-u15b-xxh3-n50-w10", true, bloomstore.ErrScheme},
		{"fs3-u15b-xxh3-n50-w10", false, docmap.ErrScheme},
		{"fs9-x", false, docmap.ErrScheme},
		{"fs4-u15b-xxh3-n50-w11", false, docmap.ErrScheme},
	} {
		dir := t.TempDir()
		if c.only {
			s, err := filterlog.Open(context.Background(), dir, filterlog.Options{Scheme: c.scheme, Default: smallIndex.Shape})
			indextest.Must(t, err)
			indextest.Must(t, s.Save())
			indextest.Must(t, s.Filter.Close())
		} else {
			table, err := docmap.Open(filepath.Join(dir, TableFile), docmap.Options{Scheme: c.scheme})
			indextest.Must(t, err)
			indextest.Must(t, table.Close())
		}
		_, err := Open(context.Background(), dir, Options{Key: KeyAsIs, FilterOnly: c.only})
		want := fmt.Sprintf("index %s was made by the rules %s (scheme %q), and new documents are judged by fs4-u15b: %s", dir, rulesOf(c.scheme), c.scheme, anew)
		if same := rulesOf(c.scheme) == "fs4-u15b"; !errors.Is(err, c.kind) || (err.Error() == want) == same {
			t.Errorf("%s: %v", c.scheme, err)
		}
		if _, err := OpenReader(context.Background(), dir, nil); c.scheme != "fs4-u15b-xxh3-n50-w11" && (err == nil || !strings.HasSuffix(err.Error(), anew)) {
			t.Errorf("%s, for a query: %v", c.scheme, err)
		}
	}
}

// TestRulesThatAreGone refuses an index of abandoned rules with a remedy. Its key is not blamed.
func TestRulesThatAreGone(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef")
	for _, name := range []string{"fs1-u15b-xxh3-n50-w10", "fs2-u15-siphash+highway(1d31aad5)-n50-w10", "fs2-u15-xxh3-n50-w10", "fs3-u15-xxh3-n50-w10", "fs3-u15b-xxh3-n50-w10", "fs4-u15-xxh3-n50-w10", "shingles1-u15-xxh3-w5-b42-r3"} {
		for _, k := range [][]byte{nil, key} {
			_, err := schemeNamed(name, k)
			if err == nil || !strings.Contains(err.Error(), "by the rules "+rulesOf(name)) || !strings.Contains(err.Error(), anew) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := schemeNamed(feature.Scheme{}.Name(), nil); err != nil {
		t.Error(err)
	}
}
