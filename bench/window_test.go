package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bench/gen"
)

// TestWindowInSmall checks everything on a smaller run of window.
func TestWindowInSmall(t *testing.T) {
	docs := testDocs() / 4
	var out bytes.Buffer
	cfg := windowConfig{
		gen: gen.Config{Docs: docs, Seed: 2, Duplicates: 0.3}, window: int64(docs / 5),
		workers: 2, memtable: int(docs * 2), dir: t.TempDir(),
	}
	w, err := runWindow(context.Background(), cfg, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Checks {
		// A small file is mostly room to grow, and short times say nothing.
		if !c.OK && strings.HasPrefix(c.What, "no") {
			t.Errorf("%s: %s\n%s", c.What, c.Got, out.Bytes())
		}
	}
	if exact := &w.truth.kinds[gen.Exact]; exact.must == 0 || exact.expired == 0 || len(w.Checks) < 5 {
		t.Errorf("%+v, %+v", exact, w.Checks)
	}
}

// TestWindowTruth checks that a judge with another window than the index finds errors.
func TestWindowTruth(t *testing.T) {
	for _, c := range []struct{ window, believed int64 }{{2000, 4000}, {4000, 2000}} {
		cfg := windowConfig{gen: gen.Config{Docs: 10_000, Seed: 2, Duplicates: 0.3}, window: c.window, workers: 2, dir: t.TempDir()}
		w, err := newWindowWatcher(cfg, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		w.truth.window = c.believed
		if err := w.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := "no duplicate inside the window missed"
		if c.believed < c.window {
			want = "none outside named"
		}
		if err := w.failed(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a window of %d believed to be one of %d: %v", c.window, c.believed, err)
		}
	}
}
