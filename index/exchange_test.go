package index

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/indextest"
)

// TestExchange: what two filters have seen, one index has that both were imported into.
func TestExchange(t *testing.T) {
	dir := t.TempDir()
	only := Options{Key: KeyAsIs, FilterOnly: true, Shape: smallIndex.Shape}
	var paths []string
	for i, o := range []Options{smallIndex, only} {
		at := filepath.Join(dir, "from", string(rune('a'+i)))
		grown(t, at, o, 50*i, 50*i+50)
		var b bytes.Buffer
		scheme, err := Export(at, &b)
		if err != nil || scheme != (feature.Scheme{}).Name() {
			t.Fatal(scheme, err)
		}
		paths = append(paths, at+".bloom")
		indextest.Must(t, os.WriteFile(paths[i], b.Bytes(), 0o666))
	}
	at := filepath.Join(dir, "index")
	if s, err := Import(at, feature.Scheme{}, KeyAsIs, paths[0]); err != nil || s.Items == 0 {
		t.Fatal(s, err)
	}
	if _, err := Import(at, feature.Scheme{Segments: 7}, KeyAsIs, paths[1]); err != nil { // it keeps its scheme
		t.Fatal(err)
	}
	knows(t, at, Options{Key: KeyAsIs, FilterOnly: true}, 0, 100, 100)
	before, err := os.ReadFile(filepath.Join(at, FilterFile))
	indextest.Must(t, err)
	other := filepath.Join(dir, "other.bloom")
	f, err := bloomstore.New(bloomstore.ForItems(9000), "any")
	indextest.Must(t, err)
	var b bytes.Buffer
	indextest.Must(t, f.Export(&b))
	indextest.Must(t, f.Close())
	indextest.Must(t, os.WriteFile(other, b.Bytes(), 0o666))
	indextest.Must(t, os.WriteFile(filepath.Join(dir, "short"), []byte("short"), 0o666))
	for want, refused := range map[string][]string{
		"only filters of one size": {paths[0], other}, "cut short": {paths[0], filepath.Join(dir, "short")},
		"no such file": {filepath.Join(dir, "nothing")}, "no filter to import": nil,
	} {
		if _, err := Import(at, feature.Scheme{}, KeyAsIs, refused...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q: %v", want, err)
		}
	}
	if after, err := os.ReadFile(filepath.Join(at, FilterFile)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("an import that failed has changed the index: %v", err)
	}
	if _, err := Import(filepath.Join(dir, "from", "a"), feature.Scheme{}, KeyAsIs, paths[1]); err == nil {
		t.Error("imported beside a table")
	}
	indextest.Must(t, os.Remove(filepath.Join(dir, "from", "a", FilterFile)))
	if _, err := Export(filepath.Join(dir, "from", "a"), &b); err == nil {
		t.Error("exported a filter that is not there")
	}
}

// TestKeptByID has what a reader knows of documents.
func TestKeptByID(t *testing.T) {
	for _, o := range []Options{smallIndex, {Key: KeyAsIs, FilterOnly: true, Shape: smallIndex.Shape}} {
		dir := t.TempDir()
		grown(t, dir, o, 0, 30)
		r, err := OpenReader(dir, nil)
		indextest.Must(t, err)
		if (r.Table() == nil) != o.FilterOnly || (r.Filter() != nil) != o.FilterOnly || r.Scheme().Name() != (feature.Scheme{}).Name() {
			t.Error("table, filter or scheme")
		}
		found, err := r.ByID("7")
		if o.FilterOnly != (err != nil) || !o.FilterOnly && (len(found) != 1 || found[0].Number != 8 || found[0].ID != "7") {
			t.Errorf("%+v, %v", found, err)
		}
		indextest.Must(t, r.Close())
		if _, err := r.ByID("7"); err == nil {
			t.Error("asked after Close")
		}
	}
}
