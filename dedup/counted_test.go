package dedup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// shopPage returns a page of a shop: a frame of forty sentences in which own words per hundred are
// the page's.
func shopPage(page, own int) string {
	var b strings.Builder
	for word := range 480 {
		name := fmt.Sprintf("frame%d", word)
		if word*37%100 < own {
			name = fmt.Sprintf("own%dof%d", word, page)
		}
		b.WriteString(name)
		b.WriteString([]string{" ", ". "}[(word%12)/11])
	}
	return b.String()
}

// TestThinPagesStay decides pages under one frame, each barely a copy of the first. All from
// the ninth on stay, since removed pages make the frame common. A near copy is still found, and a
// removed page that comes again is removed again.
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
	removed := 0
	for page := range 25 {
		r := see(fmt.Sprint("page", page), shopPage(page, 5))
		if !r.Kept {
			removed++
		}
		if r.Counted == r.Kept && page > 0 || page > 0 && page < 8 && r.Kept || page >= 8 && !r.Kept {
			t.Errorf("page %d: %v with score %v, kept %v, counted %v", page, r.Verdict, r.Score, r.Kept, r.Counted)
		}
	}
	if removed != 7 {
		t.Errorf("%d pages removed", removed)
	}
	if r := see("nearly", strings.Replace(shopPage(0, 5), "frame100 ", "another ", 1)); r.Kept || r.Of.ID != "page0" || r.Counted {
		t.Errorf("nearly page 0: %+v", r)
	}
	for page := 1; page < 8; page++ { // the frame is common by now
		if r := see("again", shopPage(page, 5)); r.Kept || r.Exact || r.Counted || r.Of.ID != "page0" {
			t.Errorf("page %d comes again: %+v", page, r)
		}
	}
	if r := see("new", shopPage(100, 5)); !r.Kept {
		t.Errorf("a page that comes for the first time: %+v", r)
	}
}

// TestRemovedPageCountsOnce checks that a page removed repeatedly counts as one holder.
func TestRemovedPageCountsOnce(t *testing.T) {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	for time := range 20 {
		r, err := d.See(fmt.Sprint(time), []byte(shopPage(min(time, 1), 5)))
		if err != nil || r.Kept != (time == 0) || r.Counted != (time == 1) {
			t.Fatalf("time %d: %+v, %v", time, r, err)
		}
	}
}

// TestRepeatedPageIsConfirmed checks that a page removed without confirming copies is judged once
// more in a run that confirms them.
func TestRepeatedPageIsConfirmed(t *testing.T) {
	for _, confirmed := range []bool{true, false} {
		table := &dedup.Memory{}
		asked := dedup.Confirmation{OK: confirmed, Value: 0.7}
		for time, confirm := range []dedup.Confirmer{nil, func([]byte, []byte, *dedup.Record) (dedup.Confirmation, error) { return asked, nil }} {
			d, err := dedup.New(dedup.Config{Table: table, Confirm: confirm})
			if err != nil {
				t.Fatal(err)
			}
			for page := time; page < 8; page++ {
				r, err := d.See(fmt.Sprint(page), []byte(shopPage(page, 5)))
				if err != nil || page > 0 && (r.Kept == (time == 0 || confirmed) || r.Counted != (time == 0) || time > 0 && r.Confirm != asked) {
					t.Errorf("time %d, page %d: %+v, %v", time, page, r, err)
				}
			}
		}
	}
}

// TestRepeatedPageInGroup decides a page that comes again after a new page with its frame. The
// filter knows the frame, but not the whole of a page that only counts.
func TestRepeatedPageInGroup(t *testing.T) {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Filter: newFilter(t, 10_000)})
	if err != nil {
		t.Fatal(err)
	}
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var sets []*feature.Sketch
	for _, page := range []int{0, 1, 2, 3, 4, 5, 6, 7, 100, 3} {
		set := new(feature.Sketch)
		extractor.Extract(set, []byte(shopPage(page, 5)))
		ids, sets = append(ids, fmt.Sprint(page)), append(sets, set)
	}
	decideAll(t, d, poolOf(2), ids[:8], sets[:8])
	before := d.Counts().Lookups
	r := decideAll(t, d, poolOf(2), ids[8:], sets[8:])
	if !r[0].Kept || r[1].Kept || r[1].Counted || r[1].Of.ID != "0" {
		t.Errorf("a new page: %+v\na page that comes again: %+v", r[0], r[1])
	}
	if n := d.Counts().Lookups - before; n != 2 {
		t.Errorf("2 documents, and %d were looked up", n)
	}
}
