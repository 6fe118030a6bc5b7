// Shorts measures package short on labelled sets: exact maps stand in place of filter and table, and
// only kept documents are remembered.
//
//	go run ./bench/shorts [-show N] [-background FILE] DIRECTORY...
//
// A directory has docs.jsonl.gz, and labels.tsv, clusters.tsv or pairs.tsv, or the fields g, kind and op
// of made posts. The background has one text a line: nothing may be removed for one of these.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/short"
)

const holders = 8 // a key that so many documents hold names none

type document struct {
	ID, Text, G, Kind, Op, Lang string
	background                  bool
}

// A removal names the kept document that a removed one copies.
type removal struct {
	doc, of int
	exact   bool
	score   float64
}

type kept struct {
	doc    int
	record []byte
}

// A run decides documents in order.
type run struct {
	docs       []document
	threshold  float64
	removals   []removal
	candidates int
	bytes      int
	longs      map[int]bool // not decided
	took       time.Duration
	refused    map[[2]int]short.Finding // of candidates that are no copies
}

func (r *run) decide() {
	var (
		scanner = canon.NewScanner()
		maker   = short.NewMaker()
		judge   short.Judge
		whole   = map[uint64]int{}
		holding = map[uint64][]int{}
		stored  []kept
	)
	r.refused = map[[2]int]short.Finding{}
	r.longs = map[int]bool{}
	start := time.Now()
	for i, d := range r.docs {
		text := []byte(d.Text)
		hash, units := measure(scanner, text)
		if of, seen := whole[hash]; seen {
			r.removals = append(r.removals, removal{doc: i, of: of, exact: true, score: 1})
			continue
		}
		whole[hash] = i
		if units > short.MaxUnits {
			r.longs[i] = true
			continue
		}
		maker.Extract(text)
		keys := maker.AppendKeys(nil)
		record := maker.AppendRecord(nil)
		must(judge.Load(record))
		seen, best := map[int]bool{}, removal{doc: i, of: -1}
		for _, k := range keys {
			if len(holding[k]) >= holders {
				continue
			}
			for _, s := range holding[k] {
				if seen[s] {
					continue
				}
				seen[s] = true
				r.candidates++
				f, err := judge.Compare(stored[s].record, r.threshold)
				must(err)
				if f.Copy && f.Score > best.score {
					best.of, best.score = stored[s].doc, f.Score
				} else if !f.Copy {
					r.refused[[2]int{i, stored[s].doc}] = f
				}
			}
		}
		if best.of >= 0 {
			r.removals = append(r.removals, best)
			continue
		}
		for _, k := range keys {
			if len(holding[k]) < holders {
				holding[k] = append(holding[k], len(stored))
			}
		}
		stored = append(stored, kept{i, record})
		r.bytes += len(record)
	}
	r.took = time.Since(start)
	if len(stored) > 0 {
		fmt.Printf("%d documents, %d kept, %d long; record %d bytes, %.2f candidates a document, %.1f µs a document\n", len(r.docs), len(r.docs)-len(r.removals), len(r.longs),
			r.bytes/len(stored), float64(r.candidates)/float64(len(r.docs)), float64(r.took.Microseconds())/float64(len(r.docs)))
	}
}

func measure(s *canon.Scanner, text []byte) (hash uint64, units int) {
	h := xxh3.New()
	for s.Reset(text); ; {
		step := s.Next()
		if step == canon.Piece {
			units += s.Units()
			continue
		}
		_, _ = h.Write(s.Whole())
		if step == canon.End {
			return h.Sum64(), units
		}
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	show := flag.Int("show", 0, "print `N` wrong and N missed pairs of each kind")
	background := flag.String("background", "", "`FILE` of unrelated texts, one a line, before the set")
	threshold := flag.Float64("threshold", .6, "share in common")
	flag.Parse()
	for _, dir := range flag.Args() {
		r := &run{threshold: *threshold}
		if *background != "" {
			for line := range lines(*background) {
				r.docs = append(r.docs, document{ID: fmt.Sprint("background-", len(r.docs)), Text: line, background: true})
			}
		}
		f, err := os.Open(filepath.Join(dir, "docs.jsonl.gz"))
		must(err)
		z, err := gzip.NewReader(f)
		must(err)
		for dec := json.NewDecoder(z); dec.More(); {
			var d document
			must(dec.Decode(&d))
			r.docs = append(r.docs, d)
		}
		fmt.Printf("== %s: ", filepath.Base(dir))
		r.decide()
		r.score(dir, *show)
	}
}

func lines(path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		f, err := os.Open(path)
		must(err)
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<24)
		for s.Scan() && yield(s.Text()) {
		}
		must(s.Err())
	}
}

// score prints what the labels beside the set say about the removals.
func (r *run) score(dir string, show int) {
	for _, x := range r.removals {
		if r.docs[x.of].background && !r.docs[x.doc].background {
			fmt.Printf("removed for background: %q for %q\n", r.docs[x.doc].Text, r.docs[x.of].Text)
		}
	}
	switch exists := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }; {
	case exists("clusters.tsv"):
		r.scoreTemplates(filepath.Join(dir, "clusters.tsv"), show)
	case exists("labels.tsv"):
		r.scoreGroups(filepath.Join(dir, "labels.tsv"), show)
	case exists("pairs.tsv"):
		r.scoreNegatives(filepath.Join(dir, "pairs.tsv"), show)
	default:
		r.scorePosts(show)
	}
}

func (r *run) scoreTemplates(path string, show int) {
	of := map[string]string{}
	for line := range lines(path) {
		f := strings.Split(line, "\t")
		of[f[0]] = f[len(f)-1]
	}
	wrong, near := 0, 0
	for _, x := range r.removals {
		if x.exact {
			continue
		}
		near++
		if a, b := r.docs[x.doc], r.docs[x.of]; of[a.ID] == of[b.ID] {
			if wrong++; wrong <= show {
				fmt.Printf("wrong: %q\n   for %q\n", a.Text, b.Text)
			}
		}
	}
	fmt.Printf("near removals %d, of these same template with other values %d\n", near, wrong)
}

// A forest of documents, by number, joined into groups.
type forest []int

func (f forest) find(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

func (r *run) scoreGroups(path string, show int) {
	group, number, same := make(forest, len(r.docs)), map[string]int{}, map[string]int{}
	for i, d := range r.docs {
		group[i], number[d.ID] = i, i
		text := strings.Join(strings.Fields(d.Text), " ")
		if j, ok := same[text]; ok {
			group[group.find(i)] = group.find(j)
		}
		same[text] = i
	}
	for line := range lines(path) {
		if f := strings.Split(line, "\t"); f[2] == "edited" || strings.HasPrefix(f[2], "same_") || strings.HasPrefix(f[2], "cer") {
			group[group.find(number[f[0]])] = group.find(number[f[1]])
		}
	}
	size := map[int]int{}
	for i := range r.docs {
		if !r.longs[i] {
			size[group.find(i)]++
		}
	}
	want, right := 0, 0
	for _, n := range size {
		want += n - 1
	}
	wrong := 0
	for _, x := range r.removals {
		if group.find(x.doc) == group.find(x.of) {
			right++
		} else if wrong++; wrong <= show {
			fmt.Printf("wrong: %q\n   for %q\n", r.docs[x.doc].Text, r.docs[x.of].Text)
		}
	}
	why := map[string]int{}
	settled := map[int]bool{}
	for _, x := range r.removals {
		settled[x.doc] = true
	}
	first, unseen, refused := map[int]bool{}, 0, map[int]bool{}
	for pair := range r.refused {
		if group.find(pair[0]) == group.find(pair[1]) {
			refused[pair[0]] = true
		}
	}
	for i := range r.docs {
		if g := group.find(i); !r.longs[i] && first[g] && !settled[i] && !refused[i] {
			unseen++
		} else if !r.longs[i] {
			first[g] = true
		}
	}
	fmt.Printf("of no candidate: %d; ", unseen)
	for pair, f := range r.refused {
		if group.find(pair[0]) == group.find(pair[1]) {
			why[fmt.Sprint(f.Differ)]++
			if show > 0 && why[fmt.Sprint(f.Differ)] <= show {
				fmt.Printf("refused (%v %.2f): %q\n  for %q\n", f.Differ, f.Score, r.docs[pair[0]].Text, r.docs[pair[1]].Text)
			}
		}
	}
	fmt.Printf("removed %d, precision %.3f, recall %.3f of %d; refused %v\n", len(r.removals), float64(right)/float64(max(1, len(r.removals))), float64(right)/float64(max(1, want)), want, why)
}

func (r *run) scoreNegatives(path string, show int) {
	pair := map[[2]string]string{}
	count := map[string]int{}
	for line := range lines(path) {
		f := strings.Split(line, "\t")
		pair[[2]string{f[0], f[1]}], pair[[2]string{f[1], f[0]}] = f[2], f[2]
		count[f[2]]++
	}
	hit := map[string]int{}
	for _, x := range r.removals {
		a, b := r.docs[x.doc], r.docs[x.of]
		l := pair[[2]string{a.ID, b.ID}]
		hit[l]++
		if l == "0" && hit[l] <= show {
			fmt.Printf("negative removed: %q\n   for %q\n", a.Text, b.Text)
		}
	}
	fmt.Printf("negatives removed %d of %d, positives %d of %d, others %d\n", hit["0"], count["0"], hit["1"], count["1"], hit[""])
}

func (r *run) scorePosts(show int) {
	of := map[int]int{}
	for _, x := range r.removals {
		of[x.doc] = x.of
	}
	total, hit, shown := map[string]int{}, map[string]int{}, map[string]int{}
	other := 0
	say := func(what string, i, w int) {
		if shown[what]++; shown[what] <= show {
			fmt.Printf("%s: %q\n   for %q\n", what, r.docs[i].Text, r.docs[w].Text)
		}
	}
	base := map[string]int{}
	for i, d := range r.docs {
		if d.Kind == "base" {
			base[d.G] = i
		}
	}
	for i, d := range r.docs {
		w, removed := of[i]
		if d.background {
			continue
		}
		if r.longs[i] {
			continue
		}
		right := removed && strings.Split(r.docs[w].G, "/")[0] == d.G
		switch kinds := []string{d.Lang + " " + d.Kind, d.Lang + " " + d.Kind + " " + d.Op}; d.Kind {
		case "copy":
			for _, k := range kinds {
				total[k]++
				if right {
					hit[k]++
				}
			}
			if removed && !right {
				other++
				say("other", i, w)
			} else if b, ok := base[d.G]; !removed && ok {
				say("missed "+kinds[1], i, b)
			}
		case "neg":
			for _, k := range kinds {
				total[k]++
				if removed && r.docs[w].G != d.G {
					hit[k]++
				}
			}
			if removed && r.docs[w].G != d.G {
				say("removed "+kinds[1], i, w)
			}
		default:
			if removed {
				other++
				say("base", i, w)
			}
		}
	}
	var kinds []string
	for k := range total {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		fmt.Printf("%-16s %4d of %4d, %.1f%%\n", k, hit[k], total[k], 100*float64(hit[k])/float64(total[k]))
	}
	fmt.Println("removed for an unrelated post:", other)
}
