package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/dedup/oracle"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

// verify holds every verdict of the real index (filter, runs, merges) against
// the exact oracle, on every field, for both scores.
func verify(ctx context.Context, args []string, out io.Writer) error {
	for _, path := range args {
		docs, err := readDocuments(ctx, feature.Scheme{}, path)
		if err != nil {
			return err
		}
		for _, score := range []dedup.Score{dedup.ScoreText, dedup.ScoreSegments} {
			if err := verifyScore(path, docs, score, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkpointEvery forces many runs and merges.
const checkpointEvery = 500

func verifyScore(path string, docs []document, score dedup.Score, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "firstseen-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x, err := index.Open(dir, index.Options{MemtableKeys: 20_000})
	if err != nil {
		return err
	}
	defer x.Close(false)
	rules := dedup.Rules{Threshold: dedup.DefaultThreshold, Score: score}
	d, err := dedup.New(dedup.Config{Rules: rules, Filter: x.Filter(), Table: x.Table()})
	if err != nil {
		return err
	}
	o := oracle.New(rules)
	verdicts := map[dedup.Verdict]int{}
	for i := range docs {
		want := o.Decide(docs[i].id, &docs[i].set)
		got, err := d.Decide(docs[i].id, &docs[i].set)
		if err != nil {
			return err
		}
		if !sameResult(&want, &got) {
			return fmt.Errorf("%s: document %d (%s):\noracle  %+v\ndeduper %+v", path, i, docs[i].id, want, got)
		}
		verdicts[got.Verdict]++
		if i%checkpointEvery == 0 || x.Table().Full() {
			if err := x.Checkpoint(); err != nil {
				return err
			}
		}
	}
	s := x.Table().Stats()
	fmt.Fprintf(out, "%s score=%d: %d verdicts equal the oracle's: %v; %d entries, runs by level %v\n", path, score, len(docs), verdicts, s.Entries, s.Runs)
	return nil
}

func sameResult(a, b *dedup.Result) bool {
	x, y := *a, *b
	x.Also, y.Also = append([]dedup.Source{}, x.Also...), append([]dedup.Source{}, y.Also...)
	x.SharedSegments, y.SharedSegments = append([]int{}, x.SharedSegments...), append([]int{}, y.SharedSegments...)
	return reflect.DeepEqual(x, y)
}
