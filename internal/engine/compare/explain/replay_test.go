package explain

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// framed returns pages under two menus of fourteen sentences, and articles that stand under both.
func framed() (texts []string) {
	random := rand.New(rand.NewPCG(7, 1))
	sentences := func(n int) string {
		var b strings.Builder
		for range n {
			for range 9 {
				fmt.Fprintf(&b, "word%d ", random.IntN(600))
			}
			b.WriteString("ends. ")
		}
		return b.String()
	}
	menus := []string{sentences(14), sentences(14)}
	for i := range 24 {
		texts = append(texts, menus[i%2]+sentences(12))
	}
	for range 6 {
		article := sentences(12)
		texts = append(texts, menus[0]+article, menus[1]+article, menus[1]+strings.Replace(article, "ends", "end", 1))
	}
	return texts
}

// recordsOf returns texts as records, each behind a bad one. The ids count from 0.
func recordsOf(texts []string) iter.Seq2[corpus.Record, error] {
	return func(yield func(corpus.Record, error) bool) {
		for i, text := range texts {
			doc := &corpus.Document{ID: fmt.Append(nil, i), Text: []byte(text), At: corpus.Place{Record: int64(i + 1)}}
			for _, doc := range []*corpus.Document{{Bad: &corpus.BadRecord{}}, doc} {
				if !yield(corpus.Record{Document: doc, Block: &corpus.Block{File: "in"}}, nil) {
					return
				}
			}
		}
	}
}

// linesOf returns the lines of the report of a run over texts.
func linesOf(t *testing.T, texts []string) (lines []report.Reported) {
	t.Helper()
	extractor, _ := feature.NewExtractor(feature.Scheme{})
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		var sketch feature.Sketch
		extractor.Extract(&sketch, []byte(text))
		r, err := d.Decide(dedup.Document{ID: fmt.Sprint(i), Sketch: &sketch})
		if err != nil {
			t.Fatal(err)
		}
		line := report.Report(&r, fmt.Sprint(i), &sketch, []byte(text))
		line.File, line.Line = "in", corpus.Place{Record: int64(i + 1)}
		lines = append(lines, line)
	}
	return lines
}

// TestReplay checks that a verdict which the two documents alone do not have is explained. The
// documents before them give it, and the reasons are about the witness.
func TestReplay(t *testing.T) {
	texts := framed()
	records, replayed := recordsOf(texts), 0
	all := linesOf(t, texts)
	for _, line := range all {
		if line.Of == nil {
			continue
		}
		docs, _, err := Find(&line, records)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Pair(docs[0], docs[1], Rules{})
		if err != nil {
			t.Fatal(err)
		}
		e.Reported = &line
		if err := e.Replay(Rules{}, records); err != nil {
			t.Fatal(err)
		}
		if (e.Among != nil) != (e.Verdict.Verdict != line.Verdict) {
			t.Fatalf("%s of %s: %s alone, and told %+v", line.Verdict, *line.Of, e.Verdict.Verdict, e.Among)
		}
		if e.Among == nil {
			continue
		}
		replayed++
		a := e.Among
		if a.Verdict.Verdict != line.Verdict || *a.Verdict.Of != *line.Of || a.Verdict.Score != line.Score {
			t.Errorf("%s is %s of %s, and replayed %+v", line.ID, line.Verdict, *line.Of, a.Verdict)
		}
		if len(a.Documents) > 14 || len(a.Documents) < dedup.MaxHolders-1 || !slices.Contains(a.Documents, *line.Of) || slices.Contains(a.Documents, line.ID) {
			t.Errorf("%s beside %v", line.ID, a.Documents)
		}
		for _, id := range a.Documents {
			if n, _ := strconv.Atoi(id); !all[n].Kept {
				t.Errorf("%s beside %s, which was removed", line.ID, id)
			}
		}
		for _, reason := range a.Reasons {
			if reason.Of != "" && reason.Of != *line.Of {
				t.Errorf("%s of %s has the reason %+v", line.ID, *line.Of, reason)
			}
		}
		if len(a.Reasons) < 2 {
			t.Errorf("%s has only the reasons %v", line.ID, a.Reasons)
		}
	}
	if replayed < 6 {
		t.Errorf("only %d verdicts need other documents", replayed)
	}
}
