package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/oracle"
)

// verify compares every verdict of the real index (filter, runs, merges) with the exact oracle, on
// every field, for both scores. With -j it decides batches of documents together.
func verify(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("verify", flag.ContinueOnError)
	v := verifier{out: out}
	fs.IntVar(&v.jobs, "j", 1, "goroutines that decide together; 1 decides one document after the other")
	fs.IntVar(&v.batch, "batch", 200, "documents of a batch: a block of a run has so many of 3.5 KB")
	if err := fs.Parse(args); err != nil {
		return err
	}
	for _, path := range fs.Args() {
		docs, err := readDocuments(ctx, feature.Scheme{}, path)
		if err != nil {
			return err
		}
		for _, score := range []dedup.Score{dedup.ScoreText, dedup.ScoreSegments} {
			if err := v.verify(path, docs, score); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkpointEvery forces many runs and merges.
const checkpointEvery = 500

type verifier struct {
	jobs, batch int
	out         io.Writer
}

func (v *verifier) verify(path string, docs []document, score dedup.Score) (err error) {
	dir, err := os.MkdirTemp("", "firstseen-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x, err := index.Open(context.Background(), dir, index.Options{Key: index.KeyAsIs, MemtableKeys: 20_000})
	if err != nil {
		return err
	}
	defer x.Close()
	rules := dedup.Rules{Threshold: 0.65, Score: score}
	d, err := dedup.New(dedup.Config{Rules: rules, Filter: x.Filter(), Table: x.Table()})
	if err != nil {
		return err
	}
	o := oracle.New(rules)
	verdicts := map[dedup.Verdict]int{}
	since := 0
	for at := 0; at < len(docs); {
		n := min(v.batch, len(docs)-at)
		if v.jobs == 1 {
			n = 1
		}
		results, err := v.decide(d, docs[at:at+n])
		if err != nil {
			return err
		}
		for i, got := range results {
			doc := &docs[at+i]
			if want := o.Decide(doc.id, &doc.set); !sameResult(&want, &got) {
				return fmt.Errorf("%s: document %d (%s):\noracle  %+v\ndeduper %+v", path, at+i, doc.id, want, got)
			}
			verdicts[got.Verdict]++
		}
		at, since = at+n, since+n
		if since >= checkpointEvery || x.Table().Full() {
			since = 0
			if err := x.Checkpoint(); err != nil {
				return err
			}
		}
	}
	s := x.Table().Stats()
	fmt.Fprintf(v.out, "%s -j %d batch %d score=%d: %d verdicts equal the oracle's: %v; %d entries, runs by level %v\n",
		path, v.jobs, v.batch, score, len(docs), verdicts, s.Entries, s.Runs)
	return nil
}

// decide decides documents, together if there are several jobs.
func (v *verifier) decide(d *dedup.Deduper, docs []document) ([]dedup.Result, error) {
	if v.jobs == 1 {
		r, err := d.Decide(dedup.Document{ID: docs[0].id, Sketch: &docs[0].set})
		return []dedup.Result{r}, err
	}
	var b dedup.Group
	for i := range docs {
		b.Add(dedup.Document{ID: docs[i].id, Sketch: &docs[i].set})
	}
	b.Link()
	results := make([]dedup.Result, len(docs))
	err := d.DecideAll(&b, dedup.Pool{Size: v.jobs, Run: v.run}, func(_, i int, r *dedup.Result, _ []int) { results[i] = *r })
	return results, err
}

// run runs tasks on one goroutine per job.
func (v *verifier) run(tasks int, f func(worker, task int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range v.jobs {
		wg.Go(func() {
			for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
				f(worker, task)
			}
		})
	}
	wg.Wait()
}

func sameResult(a, b *dedup.Result) bool {
	x, y := *a, *b
	x.Also, y.Also = append([]dedup.Source{}, x.Also...), append([]dedup.Source{}, y.Also...)
	x.SharedSegments, y.SharedSegments = append([]int{}, x.SharedSegments...), append([]int{}, y.SharedSegments...)
	return reflect.DeepEqual(x, y)
}
