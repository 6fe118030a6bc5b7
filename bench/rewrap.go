package main

import (
	"context"
	"strings"

	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/bench/vary"
	"github.com/firstseen/firstseen/internal/base/html"
)

// Bounds of the sets: long texts, most of them running text, that share little.
const (
	rewrapped     = 120 // texts per language
	leastRewrap   = 8000
	mostRewrap    = 100_000
	leastProse    = 0.6
	rewrapEnglish = "raw/debian_docs"
	rewrapChinese = "raw/xitu_tech_zh"
)

// rewrappedSets makes sets of long texts, each twice, with different line breaks.
func rewrappedSets(ctx context.Context, sets []*labelled) (made []*labelled, err error) {
	for _, from := range []struct{ language, set string }{{"en", rewrapEnglish}, {"zh", rewrapChinese}} {
		var unlike vary.Unlike
		var texts []vary.Plain
		err := readSet(ctx, sets, from.set, func(_, text []byte) {
			if len(texts) == rewrapped || len(text) < leastRewrap || len(text) > mostRewrap {
				return
			}
			if p := vary.PlainText(string(text)); p.ProseShare() >= leastProse && unlike.Take(string(text)) {
				texts = append(texts, p)
			}
		})
		if err != nil {
			return nil, err
		}
		for _, added := range []int{0, 3} {
			s := labelledOf(vary.Rewrapped(from.language, texts, added, generatedSeed))
			s.readPages()
			made = append(made, s)
		}
	}
	return made, nil
}

// readPages replaces pages by their visible text.
func (s *labelled) readPages() {
	e := html.New(html.Visible)
	for i, doc := range s.Docs {
		if strings.HasPrefix(doc.Text, "<!DOCTYPE") {
			s.Docs[i] = eval.Doc{ID: doc.ID, Text: string(e.Append(nil, []byte(doc.Text), nil))}
		}
	}
}
