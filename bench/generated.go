package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/bench/vary"
)

const (
	generatedPairs = 250 // per set of web pages, or of texts with wrong letters
	inoculations   = 20
	generatedSeed  = 1
)

// quotingPages lists numbers of pages that quote an article before its copy comes.
var quotingPages = []int{5, 6, 7, 10, 20}

// generatedSets makes sets from the texts of corpora.
func generatedSets(ctx context.Context, sets []*labelled) (made []*labelled, err error) {
	for _, language := range []string{"en", "zh"} {
		m, err := readMaterial(ctx, sets, language)
		if err != nil {
			return nil, err
		}
		for _, f := range vary.Frames {
			made = append(made, labelledOf(vary.Skinned(m, f, generatedPairs, generatedSeed)))
		}
		for _, inLines := range []bool{false, true} {
			made = append(made, labelledOf(vary.Scanned(m, generatedPairs, inLines, generatedSeed)))
		}
		for _, quoting := range quotingPages {
			made = append(made, labelledOf(vary.Inoculated(m, inoculations, quoting, generatedSeed)))
		}
	}
	return made, nil
}

// labelledOf converts a generated set, in which the pages of each article are known.
func labelledOf(set *vary.Set) *labelled {
	s := &labelled{}
	s.Name = set.Name
	for _, d := range set.Docs {
		s.Docs = append(s.Docs, eval.Doc{ID: d.ID, Text: d.Text})
		s.Origin = append(s.Origin, d.Origin)
	}
	for _, p := range set.Pairs {
		s.Pairs = append(s.Pairs, eval.Pair{A: p.A, B: p.B, Label: p.Label, Alike: true})
	}
	return s
}

// originals matches IDs of unedited documents in the injected sets.
var originals = regexp.MustCompile(`^[bd][0-9]+$`)

// readMaterial reads the articles of a language from the injected set, and sentences from another.
func readMaterial(ctx context.Context, sets []*labelled, language string) (*vary.Material, error) {
	m := &vary.Material{Language: language}
	parse, others := vary.NewswireArticle, "minhash_articles"
	if language == "zh" {
		parse, others = vary.BulletinArticle, "raw/xitu_tech_zh"
	}
	var unlike vary.Unlike
	err := readSet(ctx, sets, "inject_"+language+"*", func(id, text []byte) {
		if !originals.Match(id) || len(m.Articles) == generatedPairs {
			return
		}
		if a := parse(string(text)); len(a.Paragraphs) > 2 && unlike.Take(a.Text()) {
			m.Articles = append(m.Articles, a)
		}
	})
	if err != nil {
		return nil, err
	}
	if len(m.Articles) < generatedPairs {
		return nil, fmt.Errorf("inject_%s has %d articles, fewer than %d", language, len(m.Articles), generatedPairs)
	}
	seen := map[string]bool{}
	return m, readSet(ctx, sets, others, func(_, text []byte) {
		for line := range strings.Lines(string(text)) {
			for _, s := range vary.Sentences(line) {
				if vary.IsProse(s) && !seen[s] {
					seen[s] = true
					m.Sentences = append(m.Sentences, s)
				}
			}
		}
	})
}

// readSet reads the records of the first set whose name matches a pattern.
func readSet(ctx context.Context, sets []*labelled, pattern string, do func(id, text []byte)) error {
	for _, s := range sets {
		if ok, err := filepath.Match(pattern, s.Name); err != nil || ok {
			return readRecords(ctx, []string{s.path}, do)
		}
	}
	return fmt.Errorf("there is no set %s to take texts from", pattern)
}
