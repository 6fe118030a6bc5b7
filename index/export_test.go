package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestExport checks that an exported filter has all keys of its documents, with or without table.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	only := Options{Key: KeyAsIs, FilterOnly: true, Shape: smallIndex.Shape}
	for i, o := range []Options{smallIndex, only} {
		at := filepath.Join(dir, string(rune('a'+i)))
		grown(t, at, o, 0, 50)
		var b bytes.Buffer
		scheme, err := Export(context.Background(), at, &b)
		if err != nil || scheme != (feature.Scheme{}).Name() {
			t.Fatal(scheme, err)
		}
		var exported bloom.BloomFilter
		if _, err := exported.ReadFrom(&b); err != nil {
			t.Fatal(err)
		}
		x, err := Open(context.Background(), at, o)
		indextest.Must(t, err)
		if got, want := exported.BitSet().Count(), uint(x.Filter().Ones()); got != want || got == 0 {
			t.Errorf("%d bits are set, want %d", got, want)
		}
		indextest.Must(t, x.Close())
		indextest.Must(t, os.Remove(filepath.Join(at, FilterFile)))
		if _, err := Export(context.Background(), at, &b); err == nil {
			t.Error("exported a filter that is not there")
		}
	}
}

// TestKeptByID looks up a document through a reader, with and without a table.
func TestKeptByID(t *testing.T) {
	for _, o := range []Options{smallIndex, {Key: KeyAsIs, FilterOnly: true, Shape: smallIndex.Shape}} {
		dir := t.TempDir()
		grown(t, dir, o, 0, 30)
		r, err := OpenReader(context.Background(), dir, nil)
		indextest.Must(t, err)
		if (r.Table == nil) != o.FilterOnly || (r.Loaded != nil) != o.FilterOnly || r.Scheme.Name() != (feature.Scheme{}).Name() {
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

// TestLoadingEndsWithItsContext checks that no filter is loaded after the end of the context.
func TestLoadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plain, only := t.TempDir(), t.TempDir()
	for _, dir := range []string{plain, only} {
		o := smallIndex
		o.FilterOnly = dir == only
		x := opened(t, dir, o)
		see(t, x, 0, 5)
		indextest.Must(t, x.Finish(nil))
		indextest.Must(t, x.Close())
	}
	_, reader := OpenReader(ctx, only, nil)
	_, against := OpenAgainst(ctx, []string{plain}, nil)
	_, export := Export(ctx, plain, io.Discard)
	for name, err := range map[string]error{"OpenReader": reader, "OpenAgainst": against, "Export": export} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
