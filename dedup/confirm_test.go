package dedup_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// post draws a text of a few shared clauses, some with a word more. Many are exact copies, many too
// short for a sketch.
func post(rt *rapid.T) string {
	n := rapid.SampledFrom([]int{1, 2, 3, 12}).Draw(rt, "clauses")
	var clauses []string
	for range n {
		clauses = append(clauses, fmt.Sprintf("the clause with number %d of them all", rapid.IntRange(0, 14).Draw(rt, "clause")))
	}
	return strings.Join(clauses, ", ") + rapid.SampledFrom([]string{"", "", " again", " #news"}).Draw(rt, "end")
}

// denying denies one in oneIn pairs, chosen by a hash of the two; 0 denies none.
func denying(oneIn uint64) dedup.Confirmer {
	return func(text, id []byte, record *dedup.Record) (dedup.Confirmation, error) {
		h := xxh3.Hash(append(append(slices.Clone(text), 0), id...))
		if _, ok, err := record.Field(200); !ok || err != nil {
			return dedup.Confirmation{}, errors.New("the record has not the field that was stored")
		}
		if oneIn > 0 && h%oneIn == 0 {
			return dedup.Confirmation{Value: 0.25, Why: [...]string{"", "gone"}[h>>32%2]}, nil
		}
		return dedup.Confirmation{OK: true, Value: 0.75}, nil
	}
}

func decideTexts(rt *rapid.T, confirm dedup.Confirmer, texts []string, pool *dedup.Pool) (results []dedup.Result, store *dedup.Memory) {
	store = &dedup.Memory{}
	d, err := dedup.New(dedup.Config{Table: store, Now: fixedNow, Confirm: confirm})
	if err != nil {
		rt.Fatal(err)
	}
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		rt.Fatal(err)
	}
	var b dedup.Group
	for i, text := range texts {
		doc := dedup.Document{ID: fmt.Sprint("doc", i), Sketch: &feature.Sketch{}, Text: []byte(text), Added: fields.Append(nil, 200, []byte{1})}
		extractor.Extract(doc.Sketch, doc.Text)
		if pool != nil {
			b.Add(doc)
			continue
		}
		r, err := d.Decide(doc)
		if err != nil {
			rt.Fatal(err)
		}
		r = r.Clone()
		results = append(results, r)
	}
	if pool == nil {
		return results, store
	}
	b.Link()
	results = make([]dedup.Result, len(texts))
	err = d.DecideAll(&b, *pool, func(_, i int, r *dedup.Result, _ []int) {
		results[i] = r.Clone()
	})
	if err != nil {
		rt.Fatal(err)
	}
	return results, store
}

// TestNothingUnconfirmedIsRemoved checks that each removed document was confirmed against the
// document it names. Decisions one by one and in a batch agree.
func TestNothingUnconfirmedIsRemoved(t *testing.T) {
	events := map[string]int{}
	wanted := []string{"exact", "copy", "not confirmed", "exact, not confirmed"}
	checkUntil(t, all(events, wanted), func(rt *rapid.T) {
		var texts []string
		for range rapid.IntRange(2, 40).Draw(rt, "documents") {
			texts = append(texts, post(rt))
		}
		oneIn := rapid.SampledFrom([]uint64{0, 1, 2, 5}).Draw(rt, "one in")
		ask := denying(oneIn)
		want, store := decideTexts(rt, ask, texts, nil)
		pool := poolOf(rapid.IntRange(1, 4).Draw(rt, "workers"))
		got, other := decideTexts(rt, ask, texts, &pool)
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("(-one by one +together)\n%s", diff)
		}
		if !reflect.DeepEqual(store, other) {
			rt.Fatal("the batch left another store than the documents one by one")
		}
		plain, _ := decideTexts(rt, nil, texts, nil)
		for i, r := range want {
			record := dedup.Record{Added: fields.Append(nil, 200, []byte{1})}
			switch again, err := ask([]byte(texts[i]), []byte(r.Of.ID), &record); {
			case err != nil:
				rt.Fatal(err)
			case !r.Kept && (!again.OK || !r.Asked || r.Confirm != again):
				rt.Fatalf("document %d was removed for %s, which says %+v, by %+v", i, r.Of.ID, again, r)
			case r.Kept && r.Asked && r.Confirm.OK, r.Kept != (r.Verdict != dedup.Duplicate):
				rt.Fatalf("document %d: %+v", i, r)
			}
			if oneIn == 1 && !r.Kept {
				rt.Fatal("a copy was removed that nothing confirms")
			}
			if oneIn == 0 && i > 0 && plain[i].Exact && !r.Exact && r.Kept {
				rt.Fatalf("an exact copy that is confirmed was kept: %+v", r)
			}
			switch {
			case !r.Kept && r.Exact:
				events["exact"]++
			case !r.Kept:
				events["copy"]++
			case r.Asked && r.Score == 1:
				events["exact, not confirmed"]++
			case r.Asked:
				events["not confirmed"]++
			}
		}
	})
	for _, e := range wanted {
		if events[e] == 0 {
			t.Errorf("no document was %s: %v", e, events)
		}
	}
}

// TestExactCopiesAreConfirmedToo checks that an unconfirmed exact copy is kept and found again,
// even without a segment. The next copy is compared with both.
func TestExactCopiesAreConfirmedToo(t *testing.T) {
	for _, text := range []string{"short", "one clause that is long enough, and another one that is as long"} {
		var asked []string
		d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Confirm: func(_, id []byte, _ *dedup.Record) (dedup.Confirmation, error) {
			asked = append(asked, string(id))
			return dedup.Confirmation{OK: string(id) == "b", Value: 0.5, Why: "gone"}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		var results []dedup.Result
		for _, id := range []string{"a", "b", "c"} {
			r, err := d.See(id, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		b, c := results[1], results[2]
		if b.Verdict != dedup.Related || !b.Kept || b.Exact || b.Of.ID != "a" || b.Score < 0.6 || !b.Asked || b.Confirm.Why != "gone" {
			t.Errorf("%s: an exact copy that is not confirmed: %+v", text, b)
		}
		if c.Verdict != dedup.Duplicate || !c.Exact || c.Of.ID != "b" || !c.Confirm.OK {
			t.Errorf("%s: the next: %+v", text, c)
		}
		if !slices.Contains(asked, "a") || asked[len(asked)-1] != "b" {
			t.Errorf("%s: asked about %v", text, asked)
		}
	}
}

// TestConfirmingIsForDecisions checks that Check never asks. New refuses mosaics or a lone filter.
func TestConfirmingIsForDecisions(t *testing.T) {
	asked := 0
	failing := func([]byte, []byte, *dedup.Record) (dedup.Confirmation, error) {
		asked++
		return dedup.Confirmation{}, errors.New("the disk is gone")
	}
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Confirm: failing})
	if err != nil {
		t.Fatal(err)
	}
	const text = "one clause that is long enough, and another one that is as long"
	if _, err := d.See("a", []byte(text)); err != nil || asked > 0 {
		t.Fatal(err, asked)
	}
	var s feature.Sketch
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	extractor.Extract(&s, []byte(text))
	if r, err := d.Check("b", &s); err != nil || r.Kept || r.Asked || asked > 0 {
		t.Errorf("Check: %+v %v, asked %d", r, err, asked)
	}
	if _, err := d.See("b", []byte(text)); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("an error of the confirmer is %v", err)
	}
	if r, err := d.Check("b", &s); err != nil || r.Kept {
		t.Errorf("Check after an error: %+v %v", r, err)
	}
	for _, cfg := range []dedup.Config{
		{Table: &dedup.Memory{}, Rules: dedup.Rules{RemoveMosaics: true}, Confirm: failing},
		{Filter: newFilter(t, 1000), Confirm: failing},
	} {
		if _, err := dedup.New(cfg); err == nil || !strings.Contains(err.Error(), "needs a table") {
			t.Errorf("%+v: %v", cfg.Rules, err)
		}
	}
}

// TestVerifyAsksOnlyInDoubt checks that Rules.Verify removes exact copies, and those a sketch is
// sure of, without asking. Any other removed document was confirmed.
func TestVerifyAsksOnlyInDoubt(t *testing.T) {
	events := map[string]int{}
	wanted := []string{"exact", "sure", "confirmed", "not confirmed"}
	checkUntil(t, all(events, wanted), func(rt *rapid.T) {
		base := make([]string, 60)
		for i := range base {
			base[i] = fmt.Sprintf("clause %d with its own words such as %x and %x", i, xxh3.HashString(fmt.Sprint(i)), i*7919)
		}
		var texts []string
		for range rapid.IntRange(2, 12).Draw(rt, "documents") {
			if len(texts) > 0 && rapid.IntRange(0, 3).Draw(rt, "copy") == 0 {
				texts = append(texts, texts[0])
				continue
			}
			clauses := slices.Clone(base)
			for range rapid.IntRange(0, 30).Draw(rt, "edits") {
				at := rapid.IntRange(0, len(clauses)-1).Draw(rt, "at")
				clauses[at] = fmt.Sprintf("clause %d is another one here, by %x", at, rapid.Uint32().Draw(rt, "by"))
			}
			texts = append(texts, strings.Join(clauses, ", "))
		}
		yes := rapid.Bool().Draw(rt, "confirmed")
		asked := 0
		d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Rules: dedup.Rules{Verify: true, Confirm: "test"}, Confirm: func([]byte, []byte, *dedup.Record) (dedup.Confirmation, error) {
			asked++
			return dedup.Confirmation{OK: yes, Value: 0.75}, nil
		}})
		if err != nil {
			rt.Fatal(err)
		}
		for i, text := range texts {
			asked = 0
			r, err := d.See(fmt.Sprint("doc", i), []byte(text))
			switch {
			case err != nil:
				rt.Fatal(err)
			case r.Exact && (r.Kept || asked > 0):
				rt.Fatalf("an exact copy: asked %d times, %+v", asked, r)
			case r.Exact:
				events["exact"]++
			case !r.Kept && !r.Asked && r.Contained < .85:
				rt.Fatalf("removed without a question: %+v", r)
			case !r.Kept && !r.Asked:
				events["sure"]++
			case !r.Kept && !yes:
				rt.Fatalf("removed though nothing confirms it: %+v", r)
			case !r.Kept:
				events["confirmed"]++
			case r.Asked:
				events["not confirmed"]++
			}
		}
	})
	for _, e := range wanted {
		if events[e] == 0 {
			t.Errorf("no document was %s: %v", e, events)
		}
	}
}

// TestSureCopyAfterDoubtfulOne checks that a copy that needs no confirmation has none of another.
func TestSureCopyAfterDoubtfulOne(t *testing.T) {
	asked := 0
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Rules: dedup.Rules{Verify: true, Confirm: "test"}, Confirm: func([]byte, []byte, *dedup.Record) (dedup.Confirmation, error) {
		asked++
		return dedup.Confirmation{Value: 0.4}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	page := func(from, to int) (text string) {
		for word := from; word < to; word++ {
			text += fmt.Sprint("word", word, [...]string{" ", ". "}[word%12/11])
		}
		return text
	}
	for i, text := range []string{"another " + page(25, 600), page(0, 1800), page(0, 600)} { // the last is within the second
		r, err := d.See(fmt.Sprint(i), []byte(text))
		if err != nil || r.Kept != (i < 2) || r.Asked && !r.Kept || i == 2 && (asked == 0 || r.Of.ID != "0") {
			t.Errorf("document %d, asked %d times: %+v, %v", i, asked, r, err)
		}
	}
}
