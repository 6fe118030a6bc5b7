package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// ending is a context that ends when it was asked left times. Before left is set, it lives on.
type ending struct {
	context.Context
	left, more int // more counts the questions after the end
}

func (c *ending) Err() error {
	switch {
	case c.left < 0:
		return nil
	case c.left == 0:
		c.more++
		return context.Canceled
	}
	c.left--
	return nil
}

// TestOpeningInterrupted ends the context at every moment at which an index is read, rebuilt or
// enlarged. Opening stops at once, the files stay, and the next Open finds all documents.
func TestOpeningInterrupted(t *testing.T) {
	whole := Options{Key: KeyAsIs, Shape: bloomstore.ForMemory(1 << 20), MemtableKeys: 500}
	only, larger := whole, whole
	only.FilterOnly, larger.Shape = true, bloomstore.ForMemory(2<<20)
	for name, c := range map[string]struct {
		made, asked Options
		last        func(t *testing.T, x *Index) // ends the last run
		least       int                          // moments
	}{
		"read":        {whole, whole, func(t *testing.T, x *Index) { indextest.Must(t, x.Finish(nil)) }, 4},
		"filter-only": {only, only, func(t *testing.T, x *Index) { indextest.Must(t, x.Finish(nil)) }, 4},
		"enlarged":    {whole, larger, func(t *testing.T, x *Index) { indextest.Must(t, x.Finish(nil)) }, 3},
		"rebuilt":     {whole, whole, func(t *testing.T, x *Index) { indextest.Must(t, x.Checkpoint()) }, 3},
		"not saved": {whole, whole, func(t *testing.T, x *Index) {
			indextest.Must(t, errors.Join(x.Checkpoint(), os.Remove(x.path(FilterFile))))
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			grown(t, dir, c.made, 0, 50)
			x := opened(t, dir, c.made)
			see(t, x, 50, 200)
			c.last(t, x)
			indextest.Must(t, x.Close())
			for n := 0; ; n++ {
				before := contents(t, dir)
				ctx := &ending{context.Background(), n, 0}
				x, err := Open(ctx, dir, c.asked)
				if err == nil {
					indextest.Must(t, x.Close())
					if n < c.least {
						t.Errorf("it asks only %d times", n)
					}
					break
				}
				if !errors.Is(err, context.Canceled) || ctx.more > 1 {
					t.Fatalf("at moment %d: %v, after %d more pieces", n, err, ctx.more-1)
				}
				for name, text := range contents(t, dir) {
					if before[name] != text || len(contents(t, dir)) != len(before) {
						t.Fatalf("at moment %d: %s has changed", n, name)
					}
				}
			}
			knows(t, dir, c.asked, 0, 200, 200)
		})
	}
}

// contents returns the files of an index except its lock.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	indextest.Must(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		indextest.Must(t, err)
		if e.Name() != lockFile {
			files[e.Name()] = string(text)
		}
	}
	return files
}

// TestGrowingInterrupted ends the context before a full filter grows, and in the middle of it. What
// was answered is remembered, and the next Open finds a filter.
func TestGrowingInterrupted(t *testing.T) {
	for name, left := range map[string]int{"before": 0, "within": 1} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			o := Options{Key: KeyAsIs, Shape: bloomstore.ForItems(500)}
			ctx := &ending{context.Background(), -1, 0}
			x, err := Open(ctx, dir, o)
			indextest.Must(t, err)
			defer x.Close()
			indextest.Must(t, x.Begin(Policy{OnFull: OnFullGrow}))
			seen := 0
			for ; !x.Full(); seen++ {
				see(t, x, seen, seen+1)
			}
			if ctx.left = left; name == "before" {
				see(t, x, seen, seen+5) // a full filter changes no verdict
				seen += 5
			}
			err = x.Ack(0)
			if x.Grown() > 0 || (err == nil) != (name == "before") || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%v, grown %d times", err, x.Grown())
			}
			if err = x.Stop(err); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			indextest.Must(t, errors.Join(x.Finish(nil), x.Save(), x.Close()))
			knows(t, dir, o, 0, seen, seen)
		})
	}
}

// TestServerGrowsToTheEnd checks that a server's filter grows after the end of the context.
func TestServerGrowsToTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	x, err := Open(ctx, filepath.Join(t.TempDir(), "index"), Options{Key: KeyAsIs, Shape: bloomstore.ForItems(500), Serve: true})
	indextest.Must(t, err)
	defer x.Close()
	indextest.Must(t, x.Begin(Policy{OnFull: OnFullGrow}))
	cancel()
	if see(t, x, 0, 100); x.Grown() == 0 {
		t.Error("the filter is full, and did not grow")
	}
}
