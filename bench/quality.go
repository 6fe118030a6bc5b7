package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/bench/alike"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// A removal is false when its text is not like the witness's: both measures
// below these.
const (
	falseJaccard     = 0.3
	falseContainment = 0.5
)

// positiveLCS is from where a labelled pair counts for recall.
const positiveLCS = 0.8

// maxLCSCells bounds the time of one LCS: n·m units.
const maxLCSCells = 1 << 34

// quality measures what is removed from every corpus below a directory, at all
// thresholds and with both scores.
func quality(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("quality: give the directory of the corpora")
	}
	sets, err := findSets(args[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| corpus | score | threshold | documents | removed | false | recall | mosaics | related | hardneg removed | Jaccard | containment | lcs |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, s := range sets {
		if err := s.measure(ctx, out); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// labelled is a corpus, with labelled pairs or none.
type labelled struct {
	name, path string
	pairs      []pair
	docs       []document
	at         map[string]int // id → position in docs
	vocabulary *alike.Vocabulary
	measured   map[[2]int]likeness
}

type likeness struct{ jaccard, containment, lcs float64 }

func findSets(root string) ([]*labelled, error) {
	var sets []*labelled
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		dir, file := filepath.Split(path)
		switch {
		case file == "docs.jsonl.gz":
			pairs, err := readPairs(filepath.Join(dir, "pairs.tsv"))
			if err != nil && !os.IsNotExist(err) {
				return err
			}
			sets = append(sets, &labelled{name: filepath.Base(dir), path: path, pairs: pairs})
		case filepath.Base(dir) == "raw" && strings.Contains(file, ".jsonl"):
			sets = append(sets, &labelled{name: "raw/" + strings.TrimSuffix(strings.TrimSuffix(file, ".zst"), ".jsonl"), path: path})
		}
		return nil
	})
	return sets, err
}

func (s *labelled) measure(ctx context.Context, out io.Writer) (err error) {
	if s.docs, err = readDocuments(ctx, feature.Scheme{}, s.path); err != nil {
		return err
	}
	s.at, s.vocabulary, s.measured = map[string]int{}, alike.NewVocabulary(), map[[2]int]likeness{}
	for i := range s.docs {
		s.at[s.docs[i].id] = i
	}
	for _, score := range []dedup.Score{dedup.ScoreText, dedup.ScoreSegments} {
		for t := 3; t <= 9; t++ {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := s.row(dedup.Rules{Threshold: float64(t) / 10, Score: score}, out); err != nil {
				return err
			}
		}
	}
	s.docs, s.measured, s.vocabulary = nil, nil, nil
	return nil
}

// outcome is what one choice of rules did to the corpus.
type outcome struct {
	witness          map[int]int // removed document → its witness
	mosaics, related int
}

func (s *labelled) decide(rules dedup.Rules) (outcome, error) {
	o := outcome{witness: map[int]int{}}
	d, err := dedup.New(dedup.Config{Rules: rules, Table: &dedup.Memory{}})
	if err != nil {
		return o, err
	}
	var kept []int // table number - 1 → position
	for i := range s.docs {
		r, err := d.Decide(s.docs[i].id, &s.docs[i].set)
		if err != nil {
			return o, err
		}
		switch r.Verdict {
		case dedup.Mosaic:
			o.mosaics++
		case dedup.Related:
			o.related++
		}
		if r.Kept {
			kept = append(kept, i)
		} else {
			o.witness[i] = kept[r.Of.Num-1]
		}
	}
	return o, nil
}

func (s *labelled) row(rules dedup.Rules, out io.Writer) error {
	o, err := s.decide(rules)
	if err != nil {
		return err
	}
	var wrong, withLCS int
	var sum likeness
	for doc, witness := range o.witness {
		l := s.alike(doc, witness)
		if l.jaccard < falseJaccard && l.containment < falseContainment {
			wrong++
			if os.Getenv("BENCH_SHOW_FALSE") != "" {
				fmt.Fprintf(os.Stderr, "false: %s of %s: %+v\n", s.docs[doc].id, s.docs[witness].id, l)
			}
		}
		sum.jaccard += l.jaccard
		sum.containment += l.containment
		if l.lcs >= 0 {
			sum.lcs += l.lcs
			withLCS++
		}
	}
	n := float64(max(len(o.witness), 1))
	score := [...]string{"text", "segments"}[rules.Score]
	fmt.Fprintf(out, "| %s | %s | %.1f | %d | %d | %d (%.2f%%) | %s | %d | %d | %s | %.3f | %.3f | %.3f |\n",
		s.name, score, rules.Threshold, len(s.docs), len(o.witness), wrong, 100*float64(wrong)/n,
		s.recall(&o), o.mosaics, o.related, s.hardNegatives(&o),
		sum.jaccard/n, sum.containment/n, sum.lcs/float64(max(withLCS, 1)))
	return nil
}

// alike measures a removal exactly, once.
func (s *labelled) alike(doc, witness int) likeness {
	key := [2]int{doc, witness}
	if l, ok := s.measured[key]; ok {
		return l
	}
	a, b := s.vocabulary.Text(s.docs[doc].text), s.vocabulary.Text(s.docs[witness].text)
	l := likeness{lcs: -1}
	l.jaccard, l.containment = alike.Jaccard(a, b)
	if a.Units()*b.Units() <= maxLCSCells {
		l.lcs = alike.LCS(a, b)
	}
	s.measured[key] = l
	return l
}

// recall is the share of labelled pairs alike in positiveLCS of their text whose
// later document was removed with the other, or a copy of the other, as witness.
func (s *labelled) recall(o *outcome) string {
	copies := newClusters(len(s.docs))
	for _, p := range s.pairs {
		if p.lcs >= positiveLCS {
			copies.join(s.at[p.a], s.at[p.b])
		}
	}
	for doc, witness := range o.witness {
		if s.alike(doc, witness).lcs >= positiveLCS {
			copies.join(doc, witness)
		}
	}
	found, positive := 0, 0
	for _, p := range s.pairs {
		if p.lcs < positiveLCS {
			continue
		}
		positive++
		earlier, later := s.at[p.a], s.at[p.b]
		if earlier > later {
			earlier, later = later, earlier
		}
		if w, removed := o.witness[later]; removed && copies.of(w) == copies.of(earlier) {
			found++
		} else if os.Getenv("BENCH_SHOW_MISSED") != "" {
			fmt.Fprintf(os.Stderr, "missed: %s of %s (%s, lcs %.2f)\n", s.docs[later].id, s.docs[earlier].id, p.label, p.lcs)
		}
	}
	if positive == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f of %d", float64(found)/float64(positive), positive)
}

// hardNegatives counts documents made to share two sentences with an unrelated
// one that were removed with that one as witness.
func (s *labelled) hardNegatives(o *outcome) string {
	removed, there := 0, 0
	for _, p := range s.pairs {
		if !strings.HasPrefix(p.label, "hardneg") {
			continue
		}
		there++
		earlier, later := min(s.at[p.a], s.at[p.b]), max(s.at[p.a], s.at[p.b])
		if w, ok := o.witness[later]; ok && w == earlier {
			removed++
		}
	}
	if there == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", removed, there)
}

// clusters is a union-find over documents.
type clusters []int

func newClusters(n int) clusters {
	c := make(clusters, n)
	for i := range c {
		c[i] = i
	}
	return c
}

func (c clusters) of(i int) int {
	for c[i] != i {
		c[i] = c[c[i]]
		i = c[i]
	}
	return i
}

func (c clusters) join(i, j int) { c[c.of(i)] = c.of(j) }
