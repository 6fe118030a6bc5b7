package dedup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

// shopPage is a page of a shop: one frame of forty sentences, in which so many words in a
// hundred are its own.
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

// TestThinPagesStay: of pages under one frame, each a copy of the first by little, the ninth
// stays and all after it: what is removed makes the frame common. Who is nearly the first page
// is found all the same.
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
	if r := see("again", shopPage(3, 5)); r.Exact {
		t.Errorf("a document that was removed is named: %+v", r)
	}
}

// TestRemovedPageCountsOnce: a page that is removed each time it comes counts as one holder.
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
