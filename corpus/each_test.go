package corpus_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

func sourceOf(text string) *corpus.Source {
	return corpus.NewSource(corpustest.Stdin, jsonl.Format{}, corpus.SourceConfig{Stdin: strings.NewReader(text), BlockSize: 64})
}

const fourRecords = `{"id":"a","text":"one"}
{"id":"b","text":"two"}
none
{"id":"c","text":"three"}
`

// TestRecords reads all records in order, bad ones too. An early break closes the source.
func TestRecords(t *testing.T) {
	for stop := range 6 {
		source := sourceOf(fourRecords)
		var got []string
		for r, err := range corpus.Records(t.Context(), source) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, string(r.ID)); r.Block.File != "f" || r.At.Record != int64(len(got)) || (r.Bad != nil) != (len(got) == 3) {
				t.Errorf("record %d is %+v of %s", len(got), r.Document, r.Block.File)
			}
			if len(got) == stop {
				break
			}
		}
		all := []string{"a", "b", "", "c"}
		if stop > 0 && stop < len(all) {
			all = all[:stop]
		}
		if strings.Join(got, ",") != strings.Join(all, ",") {
			t.Errorf("stopped after %d: %q", stop, got)
		}
		if err := source.Next(t.Context(), new(corpus.Block)); !errors.Is(err, os.ErrClosed) && stop > 0 && stop < len(all) {
			t.Errorf("stopped after %d: the source is open: %v", stop, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := 0
	for _, err := range corpus.Records(ctx, sourceOf(fourRecords)) {
		if errs++; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if errs != 1 {
		t.Errorf("%d errors of a context that is over", errs)
	}
}

// TestEachParallelFails checks that an error of newReader, of a reader or of emit ends the reading,
// for any number of jobs.
func TestEachParallelFails(t *testing.T) {
	failed := errors.New("failed")
	for jobs, at := range []string{"nothing", "making", "reading", "emit", "nothing"} {
		as := func(what string) error {
			if what == at {
				return failed
			}
			return nil
		}
		good, bad := int64(0), 0
		newReader := func() (corpus.Reader[int], error) {
			return func(_ *corpus.Block, docs iter.Seq[*corpus.Document], n *int) error {
				*n = 0
				for range docs {
					*n++
				}
				return as("reading")
			}, as("making")
		}
		err := corpus.EachParallel(t.Context(), sourceOf(strings.Repeat(fourRecords, 50)), jobs, newReader, func(p *corpus.Part[int]) error {
			good, bad = good+p.Good, bad+len(p.Bad)
			if int64(p.Result) != p.Good {
				t.Errorf("%d documents, and %d good ones", p.Result, p.Good)
			}
			return as("emit")
		})
		if at == "nothing" && (err != nil || good != 150 || bad != 50) || at != "nothing" && !errors.Is(err, failed) {
			t.Errorf("%s: %v, %d good and %d bad", at, err, good, bad)
		}
	}
}
