package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// runLines runs a job over documents as lines and returns the verdicts in order.
func runLines(x *index.Index, from, to int, job Job) (verdicts string, s *report.Summary, err error) {
	var in bytes.Buffer
	for n := from; n < to; n++ {
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"text\":%q}\n", n, indextest.Sentences(n%70))
	}
	inputs := []input.Input{{Path: input.Stdin, Name: "in", Size: -1}}
	job.Source = corpus.NewSource(inputs, jsonl.Format{}, corpus.SourceConfig{Stdin: &in})
	job.Scheme, job.Workers, job.MaxBad = x.Scheme(), 1, -1
	each := job.Each
	job.Each = func(id string, r *dedup.Result, c dedup.Counts) error {
		verdicts += fmt.Sprintln(id, r.Verdict, r.Of.ID)
		if each != nil {
			return each(id, r, c)
		}
		return nil
	}
	s, err = Run(context.Background(), x, job)
	return verdicts, s, err
}

// TestFullBeforeTheFirstDocument continues a run after a kill. Its filter, rebuilt at the requested
// size, is too small for the table. The run must act on that before it judges a document.
func TestFullBeforeTheFirstDocument(t *testing.T) {
	tiny := index.Options{Key: index.KeyAsIs, Shape: bloomstore.ForItems(50)}
	base := filepath.Join(t.TempDir(), "index")
	x := opened(t, base, tiny)
	first, _, err := runLines(x, 0, 50, Job{}) // grows
	indextest.Must(t, err)
	indextest.Must(t, x.Close()) // as a kill would: the filter is not saved
	whole := opened(t, filepath.Join(t.TempDir(), "index"), tiny)
	want, _, err := runLines(whole, 0, 100, Job{})
	indextest.Must(t, err)
	size := whole.Filter().Shape()

	for _, onFull := range []index.OnFull{index.OnFullGrow, index.OnFullStop, index.OnFullWarn} {
		x := opened(t, indextest.Copy(t, base), tiny)
		if !x.Full() {
			t.Fatal("the rebuilt filter is not full")
		}
		warned, judged := "", 0
		saved := []Progress{}
		verdicts, s, err := runLines(x, 50, 100, Job{
			OnFull: onFull, Warn: func(w string) { warned += w },
			Save: func(p Progress) map[string][]byte { saved = append(saved, p); return nil },
			Each: func(string, *dedup.Result, dedup.Counts) error {
				if judged++; judged == 1 && (x.Full() != (onFull == index.OnFullWarn) || (warned != "") != (onFull == index.OnFullWarn)) {
					t.Errorf("%d: at the first document: full %v, warned %q", onFull, x.Full(), warned)
				}
				return nil
			},
		})
		if onFull == index.OnFullStop {
			if !errors.Is(err, index.ErrFull) || judged > 0 || s.Documents > 0 {
				t.Errorf("stop: %v after %d documents", err, judged)
			}
			if len(saved) != 1 || saved[0].At != (Position{At: corpus.Place{Record: 1}}) {
				t.Errorf("stop: progress %+v", saved)
			}
			continue
		}
		indextest.Must(t, err)
		if first+verdicts != want {
			t.Errorf("%d: other verdicts than those of an undisturbed run", onFull)
		}
		if n := strings.Count(warned, "design load"); onFull == index.OnFullWarn && n != 1 {
			t.Errorf("warned %d times: %s", n, warned)
		}
		if onFull == index.OnFullGrow && x.Filter().Shape() != size {
			t.Errorf("it grew to %d bits, and to %d in an undisturbed run", x.Filter().Shape().Bits, size.Bits)
		}
	}
}
