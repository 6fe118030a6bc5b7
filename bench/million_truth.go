package main

import (
	"fmt"
	"io"

	"github.com/firstseen/firstseen/bench/gen"
	"github.com/firstseen/firstseen/dedup"
)

// kindCount counts the verdicts on documents of one kind.
type kindCount struct {
	Documents   int64 `json:"documents"`
	Right       int64 `json:"duplicate_of_source"`
	AsGood      int64 `json:"duplicate_of_as_good"`
	WrongSource int64 `json:"duplicate_of_other"`
	Mosaics     int64 `json:"mosaic"`
	Related     int64 `json:"related"`
	Unique      int64 `json:"unique"`
}

// verdicts counts verdicts by kind, and keeps the first wrong ones.
type verdicts struct {
	Kinds [gen.Kinds]kindCount `json:"kinds"`
	Wrong []string             `json:"wrong"`
	// Short counts the unique documents of at most fewClauses clauses.
	Short int64 `json:"short"`
	// Chance is the rate at which sketches may take a near30 for a copy; see quotationsTaken.
	Chance float64 `json:"near30_taken_rate"`
}

const maxWrong = 10

// judge counts one decision. A witness is as good as the source if it holds the planted share or is
// an earlier copy of the source. A copy may hold parts of a long source that were not chosen.
func (v *verdicts) judge(g *gen.Generator, n uint64, r *dedup.Result, filterOnly bool) {
	truth := g.Truth(n)
	t := &truth
	c := &v.Kinds[t.Kind]
	c.Documents++
	if t.Kind == gen.Unique && g.Clauses(n) <= fewClauses {
		v.Short++
	}
	right := false
	switch r.Verdict {
	case dedup.Mosaic:
		c.Mosaics++
	case dedup.Related:
		c.Related++
	case dedup.Unique:
		c.Unique++
	case dedup.Duplicate:
		of, err := gen.Number(r.Of.ID)
		switch {
		case filterOnly && t.Kind != gen.Unique:
			right = true
		case err == nil && len(t.Sources) > 0 && of == t.Sources[0]:
			right = true
		case err == nil && of < n && t.Kind != gen.Unique && (r.Score >= t.Overlap || sameSource(g, of, t)):
			c.AsGood++
		default:
			c.WrongSource++
			v.note(n, t, r)
		}
		if right {
			c.Right++
		}
	}
	if mustFind(t.Kind, filterOnly) && r.Verdict != dedup.Duplicate || t.Kind == gen.Unique && r.Verdict != dedup.Unique {
		v.note(n, t, r)
	}
}

func sameSource(g *gen.Generator, of uint64, t *gen.Truth) bool {
	other := g.Truth(of)
	return len(other.Sources) > 0 && other.Sources[0] == t.Sources[0]
}

func (v *verdicts) note(n uint64, t *gen.Truth, r *dedup.Result) {
	if len(v.Wrong) < maxWrong {
		v.Wrong = append(v.Wrong, fmt.Sprintf("document %d, %v of %v: %v of %q, score %.3f, seen %.3f, %d of %d segments",
			n, t.Kind, t.Sources, r.Verdict, r.Of.ID, r.Score, r.Seen, r.Of.Shared, r.Segments))
	}
}

// mustFind reports whether a kind is surely above the threshold, 0.8 without a table.
func mustFind(k gen.Kind, filterOnly bool) bool {
	return k == gen.Exact || !filterOnly && (k == gen.Near90 || k == gen.Near80)
}

const (
	// newPassage is the rate at which the replaced fifth of a near80 may look like one new passage,
	// which no copy has (rule 8). Then it is related to its source. Of 125,296 none was, so it is below this.
	newPassage = 2.5e-5

	// shortTaken is the rate at which short documents that fill one template may be called copies: where
	// a character of other names agrees, the document seems edited. Of 600,000 were 15.
	shortTaken = 5e-5
)

// evaluate adds the checks of verdicts.
func (v *verdicts) evaluate(r *millionReport) {
	for k := range gen.Kind(gen.Kinds) {
		c := &v.Kinds[k]
		if c.Documents == 0 {
			continue
		}
		duplicates := c.Right + c.AsGood + c.WrongSource
		switch {
		case k == gen.Near80 && !r.FilterOnly:
			may := int64(atMost(int(c.Documents), newPassage))
			r.expect(duplicates+c.Related == c.Documents && c.Related <= may, fmt.Sprintf("every %v found, but for at most %d with a new passage: %.2g expected", k, may, newPassage*float64(c.Documents)),
				"%d of %d, %d related", duplicates, c.Documents, c.Related)
		case mustFind(k, r.FilterOnly):
			r.expect(duplicates == c.Documents, fmt.Sprintf("every %v found", k), "%d of %d", duplicates, c.Documents)
		case k == gen.Near30:
			may := atMost(int(c.Documents), v.Chance)
			r.expect(duplicates <= int64(may), fmt.Sprintf("at most %d %v called duplicate, as sketches err: %.2g expected", may, k, v.Chance*float64(c.Documents)),
				"%d of %d", duplicates, c.Documents)
		case k == gen.Unique:
			may := atMost(int(v.Short), shortTaken)
			r.expect(duplicates <= int64(may), fmt.Sprintf("at most %d %v called duplicate, of %d short ones", may, k, v.Short), "%d of %d", duplicates, c.Documents)
		case k == gen.Mosaic && !r.FilterOnly:
			r.expect(c.Mosaics == c.Documents, "every mosaic found", "%d of %d", c.Mosaics, c.Documents)
		}
		if k != gen.Unique {
			may := v.Kinds[gen.Unique].WrongSource // a copy of a post that was removed for another names that one
			r.expect(c.WrongSource <= may, fmt.Sprintf("every %v that is a duplicate has its source or one as good, but at most %d", k, may), "%d others", c.WrongSource)
		}
	}
}

func (v *verdicts) write(w io.Writer) {
	fmt.Fprint(w, "\n| kind | documents | duplicate of its source | of one as good | of another | mosaic | related | unique |\n|---|---|---|---|---|---|---|---|\n")
	for k := range gen.Kind(gen.Kinds) {
		c := &v.Kinds[k]
		fmt.Fprintf(w, "| %v | %d | %d | %d | %d | %d | %d | %d |\n", k, c.Documents, c.Right, c.AsGood, c.WrongSource, c.Mosaics, c.Related, c.Unique)
	}
	fmt.Fprintln(w)
	for _, text := range v.Wrong {
		fmt.Fprintln(w, "unexpected:", text)
	}
}
