package feature

import (
	"errors"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

// rareTerms returns the table of a thousand documents. All of them contain "the". The word of n
// letters x is in 18n of them, for n from 1 to 8.
func rareTerms() *terms.Table {
	var c terms.Counter
	for i := range 1000 {
		doc := []uint64{xxh3.HashString("the")}
		for n := 1; n <= 8; n++ {
			if i < n*18 {
				doc = append(doc, xxh3.HashString(strings.Repeat("x", n)))
			}
		}
		if i == 0 {
			doc = append(doc, xxh3.HashString("once"))
		}
		c.Add(doc)
	}
	return c.Table(1)
}

func matchSketch(s Scheme, text string) (sketch method.Sketch) {
	s.Method = "imatch"
	s.must().NewExtractor().Extract(&sketch, []byte(text))
	return sketch
}

// all lists the words that are neither in every document nor in one alone.
const all = "x xx xxx xxxx xxxxx xxxxxx xxxxxxx xxxxxxxx"

// TestTermsThatCount checks that a word counts unless all documents contain it, none does, or few
// do. Order and repetition do not count.
func TestTermsThatCount(t *testing.T) {
	s := Scheme{Terms: rareTerms(), Key: []byte("0123456789abcdef")}
	first := matchSketch(s, all)
	if len(first.Features) != 1 || first.Leads != 1 || len(first.Data) != sumBytes {
		t.Fatalf("%+v", first)
	}
	for _, text := range []string{
		"The " + all, all + " once", all + " unheard of words", "XX x XXX " + all,
		strings.ToUpper(all) + ".", strings.ReplaceAll(all, " ", ", the "),
	} {
		if got := matchSketch(s, text); got.Features[0] != first.Features[0] || string(got.Data) != string(first.Data) {
			t.Errorf("%q is another", text)
		}
	}
	for _, text := range []string{strings.TrimPrefix(all, "x "), strings.TrimSuffix(all, " xxxxxxxx")} {
		if got := matchSketch(s, text); len(got.Features) != 1 || got.Features[0] == first.Features[0] {
			t.Errorf("%q is the same", text)
		}
	}
	if got := matchSketch(s, "x xx xxx xxxx the once"); len(got.Features) != 0 || len(got.Data) != 0 {
		t.Errorf("four words: %+v", got)
	}
	if got := matchSketch(s, "x xx xxx xxxx xxxxx the once"); len(got.Features) != 1 {
		t.Errorf("five words: %+v", got)
	}
	if got := matchSketch(Scheme{Terms: s.Terms, LeastRare: 0, MostRare: 100}, all+" once"); string(got.Data) == string(first.Data) {
		t.Error("with all rarities the rarest word does not count")
	}
}

func TestMatchNames(t *testing.T) {
	key, table := []byte("0123456789abcdef"), rareTerms()
	for _, s := range []Scheme{{Terms: table}, {Terms: table, LeastRare: 0, MostRare: 100, Key: key}} {
		s.Method = "imatch"
		got, ok := NamedWith(s.Name(), s.Key, table)
		if !ok || got.Name() != s.Name() || !strings.Contains(s.Name(), "-t"+table.Digest()+"-i") {
			t.Errorf("%s is %+v, %v", s.Name(), got, ok)
		}
		var c terms.Counter
		if _, ok := NamedWith(s.Name(), s.Key, c.Table(1)); ok {
			t.Error("another table")
		}
		if _, ok := NamedWith(s.Name(), s.Key, nil); ok {
			t.Error("no table")
		}
	}
	if err := (Scheme{Method: "imatch"}).Validate(); !errors.Is(err, ErrNoTerms) {
		t.Error(err)
	}
	for _, s := range []Scheme{{Terms: table, LeastRare: 50, MostRare: 50}, {Terms: table, LeastRare: -1, MostRare: 9}, {Terms: table, MostRare: 101}, {Terms: table, Key: key[:3]}} {
		s.Method = "imatch"
		if s.Validate() == nil {
			t.Errorf("%+v is valid", s)
		}
	}
}

// TestDamagedTermsHash checks that a record of a wrong length is refused.
func TestDamagedTermsHash(t *testing.T) {
	j := Scheme{Method: "imatch", Terms: rareTerms()}.must().NewJudge(method.Rules{})
	s := matchSketch(Scheme{Terms: rareTerms()}, all)
	j.Load(&s)
	if f, err := j.Compare(nil, j.Record(nil)); err != nil || f.Relation != method.Copy || f.Score != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	for n := range 30 {
		_, _, sameErr := j.Same(make([]byte, n))
		f, compareErr := j.Compare(nil, make([]byte, n))
		if fine := n == 8 || n == 24; (sameErr == nil) != fine || (compareErr == nil) != fine || f.Relation != method.Unrelated {
			t.Errorf("%d bytes: %v, %v, %+v", n, sameErr, compareErr, f)
		}
	}
}
