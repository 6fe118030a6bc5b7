package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// textsByID holds earlier texts by ID.
type textsByID struct {
	texts      map[string]string
	candidates []dedup.PassageCandidate
}

func (t textsByID) Key(num int, dst []byte) []byte { return fmt.Append(dst, num) }

func (t textsByID) Read(num int, buf []byte) ([]byte, bool, error) {
	for _, c := range t.candidates {
		if int(c.Num) == num {
			text, ok := t.texts[string(c.ID)]
			return append(buf, text...), ok, nil
		}
	}
	return nil, false, fmt.Errorf("document %d is no candidate", num)
}

func (t textsByID) Same(int, []byte) bool { return true }

// passageFinder returns a finder that reads texts by ID.
func passageFinder(least int, texts map[string]string) dedup.PassageFinder {
	finders := sync.Pool{New: func() any { return passages.NewFinder(least) }}
	return func(doc *dedup.Document, candidates []dedup.PassageCandidate, r *dedup.Result) error {
		var of []passages.Candidate
		ids := map[int]string{}
		for _, c := range candidates {
			list, _, err := c.Record.Field(fields.TagPicks)
			if err != nil {
				return err
			}
			of = append(of, passages.Candidate{Document: int(c.Num), List: list, Single: c.Single})
			ids[int(c.Num)] = string(c.ID)
		}
		finder := finders.Get().(*passages.Finder)
		defer finders.Put(finder)
		found, err := finder.Find(&units.Outline{Text: doc.Text, Hashes: doc.Sketch.Hashes, Places: doc.Sketch.Places}, doc.Sketch.PickList, of, textsByID{texts, candidates})
		for i := range found.Passages {
			found.Passages[i].Of = ids[found.Passages[i].Document]
		}
		r.Passages, r.PassageUnits, r.Covered, r.Left, r.Consumed = found.Passages, doc.Sketch.Words, found.Covered, found.Left, found.Consumed
		return err
	}
}

// patchwork draws texts that contain stretches of earlier ones, with new words between.
func patchwork(r *rand.Rand, n int) (texts []string) {
	word := func(most int) string { return fmt.Sprintf("w%d", r.IntN(most)) }
	for range n {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			for range r.IntN(120) {
				fmt.Fprintf(&b, "%s%s", word(1<<30), []string{" ", " ", " ", ". ", "\n\n"}[r.IntN(5)])
			}
			if len(texts) > 0 {
				words := strings.Fields(texts[r.IntN(len(texts))])
				from := r.IntN(len(words))
				b.WriteString(strings.Join(words[from:min(len(words), from+r.IntN(160))], " ") + " ")
			}
		}
		b.WriteString(word(1 << 30))
		texts = append(texts, b.String())
	}
	return texts
}

// TestPassagesOfGroups checks that a group's passages are those of its documents one by one, with
// any filter. The document named has the same words. While fewer documents than MaxHolders are
// kept, and a row surely has two picks, a passage contains or adjoins each repeated row.
func TestPassagesOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]int{25, 50, 90}).Draw(t, "least")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		texts := patchwork(r, 30)
		scheme := feature.Scheme{Passages: least}
		extractor, err := feature.NewExtractor(scheme)
		if err != nil {
			t.Fatal(err)
		}
		byID := map[string]string{}
		var stores [2]dedup.Memory
		var dedupers [2]*dedup.Deduper
		keys := rapid.SampledFrom(filterSizes).Draw(t, "filter keys")
		for i := range stores {
			cfg := dedup.Config{Scheme: scheme, Table: &stores[i], Filter: newFilter(t, keys), Now: fixedNow, Passages: passageFinder(least, byID)}
			if dedupers[i], err = dedup.New(cfg); err != nil {
				t.Fatal(err)
			}
		}
		var group dedup.Group
		pool := poolOf(rapid.IntRange(1, 4).Draw(t, "workers"))
		kept := &rows{least: least, docs: map[string]int{}}
		for at := 0; at < len(texts); {
			group.Reset()
			first := at
			for range rapid.IntRange(1, 12).Draw(t, "documents") {
				if at < len(texts) {
					doc := dedup.Document{ID: fmt.Sprint("doc", at), Text: []byte(texts[at]), Sketch: new(feature.Sketch)}
					extractor.Extract(doc.Sketch, doc.Text)
					doc.Added = passages.AppendField(nil, doc.Sketch.PickList)
					byID[doc.ID] = texts[at]
					group.Add(doc)
					at++
				}
			}
			group.Link()
			results := make([]dedup.Result, group.Len())
			if err := dedupers[0].DecideAll(&group, pool, func(_, i int, r *dedup.Result, _ []int) { results[i] = *r }); err != nil {
				t.Fatal(err)
			}
			for i := range results {
				one, err := dedupers[1].Decide(*group.Document(i))
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(one.Passages, results[i].Passages, cmpopts.EquateEmpty()); diff != "" || one.Left != results[i].Left {
					t.Fatalf("document %d (-alone +group): %s", first+i, diff)
				}
				if one.Kept {
					kept.check(t, group.Document(i).ID, texts[first+i], byID, one.Passages)
				}
			}
		}
	})
}

// TestPicksOfTheRecordAreAdded checks that a filter gets the picks of a document that its record has, and
// no others.
func TestPicksOfTheRecordAreAdded(t *testing.T) {
	scheme, r := feature.Scheme{Passages: 50}, rand.New(rand.NewPCG(6, 6))
	doc := dedup.Document{ID: "a", Sketch: extracted("a text of some words")}
	for range passages.MaxPicks + 7 {
		doc.Sketch.Picks = append(doc.Sketch.Picks, r.Uint64())
	}
	filter := newFilter(t, 100_000)
	cfg := dedup.Config{Scheme: scheme, Table: new(dedup.Memory), Filter: filter, Now: fixedNow, Passages: passageFinder(50, nil)}
	d, err := dedup.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := d.Decide(doc); err != nil || !r.Kept {
		t.Fatal(r, err)
	}
	seen := make([]bool, len(doc.Sketch.Picks))
	if filter.Test(doc.Sketch.Picks, seen); slices.Contains(seen[:passages.MaxPicks], false) || slices.Contains(seen[passages.MaxPicks:], true) {
		t.Error("the filter has other picks than the record")
	}
}

// rows counts the kept documents that have each row of least words.
type rows struct {
	least int
	docs  map[string]int
	kept  int
}

// check compares the passages of a document with the rows before it, and adds the document's rows.
func (k *rows) check(t *rapid.T, id, text string, texts map[string]string, found []passages.Passage) {
	words := units.New()
	words.Read([]byte(text))
	forms := make([]string, words.Len())
	marks := make([]bool, words.Len())
	for i := range forms {
		forms[i] = string(words.Form(i))
	}
	row := func(i int) string { return strings.Join(forms[i:i+k.least], " ") }
	want, own := make([]bool, len(forms)), map[string]bool{}
	for i := 0; i+k.least <= len(forms); i++ {
		if n := k.docs[row(i)]; n > 0 {
			for j := range k.least {
				want[i+j] = true
			}
		}
		own[row(i)] = true
	}
	letters := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" .\n", r) }), " ")
	}
	for _, p := range found {
		part, of := letters(text[p.Start:p.End]), letters(texts[p.Of][p.OfStart:p.OfEnd])
		if part != of || part == "" {
			t.Fatalf("%s: passage %+v is %q, in the earlier text %q", id, p, part, of)
		}
		for i := range forms {
			if at, _ := words.Range(i, i+1); p.Start <= at && at < p.End {
				marks[i] = true
			}
		}
	}
	const near = passages.MaxWindow // documents whose chains are already found are not read
	for i := range want {
		found := slices.Contains(marks[max(i-near, 0):min(i+near, len(marks))], true)
		if want[i] && !found && k.kept < dedup.MaxHolders && k.least >= 90 {
			t.Fatalf("%s: word %d stands in a row of %d words of an earlier document, and in no passage", id, i, k.least)
		}
	}
	k.kept++
	for r := range own {
		k.docs[r]++
	}
}
