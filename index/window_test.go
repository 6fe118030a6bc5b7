package index

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestWindowRenews checks that a filter full of expired keys is rebuilt under any policy, and that
// methods in memory drop expired documents.
func TestWindowRenews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scheme feature.Scheme
		full   OnFull
	}{"stop": {full: OnFullStop}, "grow": {full: OnFullGrow}, "memory": {scheme: feature.Scheme{Method: "simhash"}}} {
		x, err := Open(context.Background(), filepath.Join(t.TempDir(), "index"), Options{Key: KeyAsIs, Scheme: c.scheme, Shape: bloomstore.ForItems(1500), MemtableKeys: 400})
		indextest.Must(t, err)
		indextest.Must(t, x.Begin(Policy{Window: 40, TellsTimes: true, OnFull: c.full}))
		extractor, err := feature.NewExtractor(x.Scheme())
		indextest.Must(t, err)
		size := x.State().Bytes
		for i := range 600 {
			text := indextest.Sentences(i)
			if i%3 == 2 {
				text = indextest.Sentences(i - 1 - i%2*60) // like the previous text, or an expired one
			}
			var set feature.Set
			extractor.Extract(&set, []byte(text))
			r, err := x.Decide(dedup.Document{ID: fmt.Sprint(i), Sketch: &set, Added: fields.AppendTime(nil, 1_600_000_000+int64(i))})
			indextest.Must(t, err)
			if want := i%3 != 2 || i%2 == 1; r.Kept != want {
				t.Fatalf("%s: document %d: kept %v, want %v: %+v", name, i, r.Kept, want, r)
			}
			indextest.Must(t, x.Ack(100))
		}
		if x.Grown() > 0 || x.State().Bytes != size || x.TableStats().Window.Expired < 300 {
			t.Errorf("%s: grown %d times, from %d to %d bytes; %v", name, x.Grown(), size, x.State().Bytes, x.TableStats().Window)
		}
		indextest.Must(t, x.Close())
	}
}

// TestClockGoesBack sets the system clock back. Documents without a time then get the latest time
// seen, and count as long as documents of that time.
func TestClockGoesBack(t *testing.T) {
	now := int64(1_600_000_000)
	x := opened(t, filepath.Join(t.TempDir(), "index"), smallIndex)
	indextest.Must(t, x.Begin(Policy{Window: 100, Now: func() time.Time { return time.Unix(now, 0) }}))
	for i, c := range []struct {
		after int64
		text  int
		kept  bool
	}{{0, 1, true}, {-90, 2, true}, {95, 2, false}, {95, 1, false}, {101, 2, true}} {
		now = 1_600_000_000 + c.after
		r, err := x.See(fmt.Sprint(i), []byte(indextest.Sentences(c.text)))
		indextest.Must(t, err)
		if r.Kept != c.kept {
			t.Errorf("text %d after %d seconds: kept %v", c.text, c.after, r.Kept)
		}
	}
}

// TestWindowIsRefused refuses a window if the times of old documents are unknown.
func TestWindowIsRefused(t *testing.T) {
	x := opened(t, filepath.Join(t.TempDir(), "index"), smallIndex)
	indextest.Must(t, x.CheckWindow(9))
	see(t, x, 0, 1)
	indextest.Must(t, x.CheckWindow(0))
	if err := x.CheckWindow(9); err == nil || !strings.Contains(err.Error(), "has documents without times") {
		t.Errorf("%v", err)
	}
	filterOnly := opened(t, filepath.Join(t.TempDir(), "alone"), Options{Shape: lifeShape, FilterOnly: true})
	if err := filterOnly.CheckWindow(9); err == nil || !strings.Contains(err.Error(), "has no window") {
		t.Errorf("without a table: %v", err)
	}
}

// TestAppendTime checks that times are clamped to 32 bits.
func TestAppendTime(t *testing.T) {
	for seconds, want := range map[int64]uint32{-5: 0, 0: 0, 7: 7, 1<<32 - 1: 1<<32 - 1, 1 << 32: 1<<32 - 1, -1 << 63: 0} {
		if got, ok := fields.Time(fields.AppendTime([]byte{}, seconds)); got != want || !ok {
			t.Errorf("%d: %d, %v", seconds, got, ok)
		}
	}
	if _, told := fields.Time(nil); told {
		t.Error("nothing tells a time")
	}
}

// TestEdgeOfAnother checks that indexes that differ only in their edge have different identities.
func TestEdgeOfAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	for _, want := range []uint32{900, 950} {
		x := opened(t, dir, smallIndex)
		indextest.Must(t, x.Begin(Policy{Window: 100, Now: func() time.Time { return time.Unix(int64(want)+100, 0) }}))
		see(t, x, 0, 1)
		indextest.Must(t, errors.Join(x.Finish(nil), x.Close()))
		other := openedAgainst(t, dir)
		if ids := other.IDs(); len(ids) != 1 || ids[0].Edge != want || ids[0].Documents != 1 {
			t.Errorf("%+v, want the edge %d", ids, want)
		}
		indextest.Must(t, other.Close())
	}
}

// TestSameVersion checks that an unchanged document, given again, does not replace itself.
func TestSameVersion(t *testing.T) {
	x := opened(t, filepath.Join(t.TempDir(), "index"), smallIndex)
	indextest.Must(t, x.Begin(Policy{ReplaceSameID: true}))
	for i, c := range []struct {
		text       int
		kept, live bool // live is whether the first document then counts
	}{{1, true, true}, {1, false, true}, {2, true, false}, {2, false, false}} {
		r, err := decideText(x, "a", indextest.Sentences(c.text))
		indextest.Must(t, err)
		if r.Kept != c.kept || x.table.Live(1) != c.live {
			t.Errorf("document %d: kept %v, the first is live %v", i, r.Kept, x.table.Live(1))
		}
	}
}

// TestSameVersionUnconfirmed checks that a document replaces one with the same text if that text
// does not confirm the copy.
func TestSameVersionUnconfirmed(t *testing.T) {
	x := opened(t, filepath.Join(t.TempDir(), "index"), smallIndex)
	asked := dedup.Confirmation{Why: "the text is gone"}
	indextest.Must(t, x.Begin(Policy{ReplaceSameID: true, Confirm: func([]byte, []byte, *dedup.Record) (dedup.Confirmation, error) { return asked, nil }}))
	for i, ok := range []bool{false, false, true} {
		asked.OK = ok
		r, err := decideText(x, "a", indextest.Sentences(1))
		indextest.Must(t, err)
		if live := x.table.Live(1); r.Kept == ok || live != (i == 0) || x.table.Documents() != uint32(min(i+1, 2)) {
			t.Errorf("document %d: kept %v, the first is live %v", i, r.Kept, live)
		}
	}
}

func decideText(x *Index, id, text string) (dedup.Result, error) {
	extractor, err := feature.NewExtractor(x.Scheme())
	if err != nil {
		return dedup.Result{}, err
	}
	var set feature.Set
	extractor.Extract(&set, []byte(text))
	return x.Decide(dedup.Document{ID: id, Sketch: &set})
}
