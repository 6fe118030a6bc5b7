package dedup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// shopPage returns a page of a shop: a frame of 33 sentences around seven of the page's own.
func shopPage(page int) string {
	var b strings.Builder
	for word := range 480 {
		name := mix(uint64(word))
		if word/12 >= 12 && word/12 < 19 {
			name = mix(uint64(page+1)<<20 + uint64(word))
		}
		fmt.Fprintf(&b, "w%x%s", name>>32, []string{" ", ". "}[(word%12)/11])
	}
	return b.String()
}

// TestThinPagesStay decides pages with a sixth of their own in one frame, each barely a copy of the
// first. Most from the ninth on stay, since removed pages make the frame common: all but those with
// a key run of the frame that is not among the eight least of most pages. A removed page that comes
// again stays, too. A near copy is still found.
func TestThinPagesStay(t *testing.T) {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	see := func(id, text string) dedup.Result {
		t.Helper()
		r, err := d.See(id, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	later := 0
	for page := range 25 {
		r := see(fmt.Sprint("page", page), shopPage(page))
		switch {
		case page < 8 && (r.Kept != (page == 0) || r.Counted != (page > 0)):
			t.Errorf("page %d: %v with score %v, kept %v, counted %v", page, r.Verdict, r.Score, r.Kept, r.Counted)
		case !r.Kept && page >= 8:
			later++
		}
	}
	if later > 4 {
		t.Errorf("%d of 17 pages in a common frame were removed", later)
	}
	if r := see("nearly", "another"+shopPage(0)); r.Kept || r.Of.ID != "page0" || r.Counted {
		t.Errorf("nearly page 0: %+v", r)
	}
	if r := see("again", shopPage(3)); !r.Kept || r.Of.Num != 0 {
		t.Errorf("page 3 comes again: %+v", r)
	}
}

// TestRemovedPageCountsOnce checks that a page removed repeatedly counts as one holder.
func TestRemovedPageCountsOnce(t *testing.T) {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	for time := range 20 {
		r, err := d.See(fmt.Sprint(time), []byte(shopPage(min(time, 1))))
		if err != nil || r.Kept != (time == 0) || r.Counted != (time == 1) {
			t.Fatalf("time %d: %+v, %v", time, r, err)
		}
	}
}

// TestConfirmedPageDoesNotCount checks that pages that must be confirmed never make their frame
// common, whether they are or not.
func TestConfirmedPageDoesNotCount(t *testing.T) {
	for _, confirmed := range []bool{true, false} {
		asked := dedup.Confirmation{OK: confirmed, Value: 0.7}
		d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Confirm: func([]byte, []byte, *dedup.Record) (dedup.Confirmation, error) { return asked, nil }})
		if err != nil {
			t.Fatal(err)
		}
		for page := range 8 {
			r, err := d.See(fmt.Sprint(page), []byte(shopPage(page)))
			if err != nil || page > 0 && (r.Kept == confirmed || r.Confirm != asked) || r.Counted {
				t.Errorf("page %d: %+v, %v", page, r, err)
			}
		}
		if r, err := d.See("9", []byte(shopPage(9))); err != nil || r.Kept == confirmed || r.Counted {
			t.Errorf("confirmed %v, the ninth page: %+v, %v", confirmed, r, err)
		}
	}
}

// TestRepeatedPageInGroup decides pages that come twice, in one group and in two. The filter knows
// the frame, but not the whole of a page that only counts.
func TestRepeatedPageInGroup(t *testing.T) {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Filter: newFilter(t, 10_000)})
	if err != nil {
		t.Fatal(err)
	}
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	counted := map[int]bool{}
	for _, pages := range [][]int{{0, 1, 2, 1, 3}, {4, 2, 3, 4}, {1, 5, 5}, {6}} {
		var ids []string
		var sets []*feature.Sketch
		for _, page := range pages {
			set := new(feature.Sketch)
			extractor.Extract(set, []byte(shopPage(page)))
			ids, sets = append(ids, fmt.Sprint(page)), append(sets, set)
		}
		for i, r := range decideAll(t, d, poolOf(2), ids, sets) {
			if first := !counted[pages[i]]; r.Kept != (pages[i] == 0) || r.Counted != (first && pages[i] > 0) {
				t.Errorf("page %d of %v: %+v", pages[i], pages, r)
			}
			counted[pages[i]] = true
		}
	}
}
