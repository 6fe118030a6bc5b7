package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// sourceOf returns a source that reads text as the input "in".
func sourceOf(text string) *corpus.Source {
	inputs := []input.Input{{Path: input.Stdin, Name: "in", Size: -1}}
	return corpus.NewSource(inputs, jsonl.Format{}, corpus.SourceConfig{Stdin: strings.NewReader(text)})
}

// TestTooManyBad checks that a run ends at the first bad record above the limit and names it.
func TestTooManyBad(t *testing.T) {
	lines := "no\n{\"text\":\"a\"}\n{}\n[]\n"
	for allowed := range int64(4) {
		x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs})
		s, err := Run(t.Context(), x, Job{Source: sourceOf(lines), MaxBad: allowed})
		last := map[int64]string{0: "1, the last at line 1: ", 1: "2, the last at line 3: ", 2: "3, the last at line 4: "}[allowed]
		switch {
		case last == "" && (err != nil || s.Bad != 3 || s.Documents != 1):
			t.Errorf("%d allowed: %+v, %v", allowed, s.Tally, err)
		case last != "" && (!errors.Is(err, ErrTooManyBad) || !strings.Contains(err.Error(), last)):
			t.Errorf("%d allowed: %v, want %s", allowed, err, last)
		}
	}
}

// TestEmptyRecordsAlone checks that blank lines after a document are no documents for a filter
// alone, and owe no answer. The document is remembered when the run ends early.
func TestEmptyRecordsAlone(t *testing.T) {
	long := fmt.Sprintf("{\"text\":%q}\n", strings.Repeat("a long line has a block for itself. ", 1<<15))
	for _, filterOnly := range []bool{false, true} {
		x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs, FilterOnly: filterOnly, Shape: bloomstore.ForItems(4000)})
		job := Job{Source: sourceOf(long + strings.Repeat("\n", 20) + "no\n"), Workers: 4, Pipe: true, Choices: Choices{Annotate: true}}
		s, err := Run(t.Context(), x, job)
		if !errors.Is(err, ErrTooManyBad) || s.Kept != 1 {
			t.Errorf("filter only %v: %+v, %v", filterOnly, s.Tally, err)
		}
		if !filterOnly && x.Table().Unsaved() > 0 {
			t.Error("the document is not remembered")
		}
	}
}

// TestRetries checks that a kept document sent again gets its old answer if answers may have been
// lost. Otherwise it is a duplicate.
func TestRetries(t *testing.T) {
	x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs})
	_, _, err := runLines(x, 0, 3, Job{})
	indextest.Must(t, err)
	live := new(Live)
	verdicts, s, err := runLines(x, 0, 4, Job{Retries: true, Live: live})
	indextest.Must(t, err)
	if s.Again != 3 || s.Kept != 4 || s.Unique != 4 || live.Documents.Load() != 4 || live.Removed.Load() != 0 || live.Stored.Load() == 0 {
		t.Errorf("%s%+v", verdicts, s.Tally)
	}
	if _, s, err = runLines(x, 0, 4, Job{Live: live}); err != nil || s.Duplicates != 4 || s.SameID != 4 || live.Removed.Load() != 4 {
		t.Errorf("%+v, %v", s.Tally, err)
	}
}

// TestRetriesOfABatch checks that a document is listed if another batch sends it again before its
// own batch is cancelled, because nothing else remembers it.
func TestRetriesOfABatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := opened(t, dir, index.Options{Key: index.KeyAsIs})
	for _, batch := range []string{"first", "second"} {
		_, _, err := runLines(x, 0, 2, Job{Retries: true, Choices: Choices{Batch: batch}})
		indextest.Must(t, err)
	}
	indextest.Must(t, errors.Join(x.Finish(nil), x.Close()))
	edit, err := index.Edit(dir)
	indextest.Must(t, err)
	defer edit.Close()
	listed := 0
	err = edit.Dependents("first", func(d index.Dependent) error {
		if listed++; d.Batch != "second" || d.ID != d.Of {
			t.Errorf("%+v", d)
		}
		return nil
	})
	if err != nil || listed != 2 {
		t.Errorf("%d documents are listed, want 2; %v", listed, err)
	}
}

// TestRetriesOfAnother checks that a document kept by another index is not a retry here.
func TestRetriesOfAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "other")
	other, err := index.Open(context.Background(), dir, index.Options{Key: index.KeyAsIs, Shape: bloomstore.ForItems(4000)})
	indextest.Must(t, err)
	_, _, err = runLines(other, 0, 3, Job{})
	indextest.Must(t, errors.Join(err, other.Finish(nil), other.Close()))
	against, err := index.OpenAgainst(context.Background(), []string{dir}, CheckCompleted)
	indextest.Must(t, err)
	defer against.Close()
	x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs, Shape: bloomstore.ForItems(4000)})
	indextest.Must(t, x.UseAgainst(against))
	_, s, err := runLines(x, 0, 4, Job{Retries: true})
	if err != nil || s.Again != 0 || s.Kept != 1 || s.Duplicates != 3 || s.SameID != 3 {
		t.Errorf("%+v, %v", s.Tally, err)
	}
	if _, s, err = runLines(x, 0, 4, Job{Retries: true}); err != nil || s.Again != 1 || s.Kept != 1 || s.Duplicates != 3 {
		t.Errorf("once more: %+v, %v", s.Tally, err)
	}
}

// TestOutputFails checks that any output that cannot be written ends the run, whatever its records.
func TestOutputFails(t *testing.T) {
	t.Parallel()
	gone := func(name string) *output.Writer {
		w, err := output.Create(filepath.Join(t.TempDir(), name))
		indextest.Must(t, errors.Join(err, w.Abort()))
		return w
	}
	document := fmt.Sprintf("{\"text\":%q}\n", indextest.Sentences(1))
	for name, c := range map[string]struct {
		outputs  Outputs
		lines    string
		annotate bool
	}{
		"kept":          {Outputs{Kept: gone("kept")}, document, false},
		"annotated":     {Outputs{Kept: gone("annotated")}, document, true},
		"report":        {Outputs{Report: gone("report")}, document + document, false},
		"rejects":       {Outputs{Rejects: gone("rejects")}, "no\n", false},
		"answer":        {Outputs{Kept: gone("answer")}, "no\n", true},
		"empty":         {Outputs{Kept: gone("empty")}, "\n", true},
		"at the end":    {Outputs{Rejects: gone("end")}, document, false},
		"of a filter":   {Outputs{Report: gone("filter")}, document + document, false},
		"before a mark": {Outputs{Rejects: gone("mark")}, document + document, false},
	} {
		x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs, FilterOnly: name == "of a filter"})
		job := Job{Source: sourceOf(c.lines), MaxBad: -1, Outputs: c.outputs, OnFull: index.OnFullWarn}
		job.Annotate = c.annotate
		if name == "before a mark" {
			job.CheckpointBytes = 1
		}
		if _, err := Run(t.Context(), x, job); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoneNamed checks that no output gets its name if one cannot be finished.
func TestNoneNamed(t *testing.T) {
	document := fmt.Sprintf("{\"text\":%q}\n", indextest.Sentences(1))
	for _, temporary := range []bool{false, true} {
		report := filepath.Join(t.TempDir(), "report")
		w, err := output.Create(report)
		indextest.Must(t, err)
		rejects, err := output.Create(filepath.Join(t.TempDir(), "rejects"))
		indextest.Must(t, errors.Join(err, rejects.Abort()))
		x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs, Temporary: temporary})
		job := Job{Source: sourceOf(document + document), MaxBad: -1, Outputs: Outputs{Report: w, Rejects: rejects}, Temporary: temporary}
		if _, err := Run(t.Context(), x, job); !errors.Is(err, os.ErrClosed) {
			t.Errorf("temporary %v: %v", temporary, err)
		}
		indextest.Must(t, w.Abort())
		if _, err := os.Stat(report); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("temporary %v: the report has its name: %v", temporary, err)
		}
	}
}

// TestIndexFails checks that an error of the index or of Each ends the run and names the input.
func TestIndexFails(t *testing.T) {
	document := fmt.Sprintf("{\"text\":%q}\n", indextest.Sentences(1))
	x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs})
	told := errors.New("told")
	job := Job{Source: sourceOf(document), Each: func(string, *dedup.Result, dedup.Counts) error { return told }}
	if _, err := Run(t.Context(), x, job); !errors.Is(err, told) || !strings.HasPrefix(err.Error(), "in: ") {
		t.Errorf("error %v", err)
	}
	job = Job{Source: corpus.NewSource([]input.Input{{Path: input.Stdin, Name: "in", Size: -1}},
		jsonl.Format{Fields: jsonl.Fields{Text: strings.Repeat("a.", 40)}}, corpus.SourceConfig{Stdin: strings.NewReader(document)})}
	if _, err := Run(t.Context(), x, job); err == nil || !strings.Contains(err.Error(), "a path may have at most") {
		t.Errorf("a path that is too long: %v", err)
	}
	indextest.Must(t, x.Close())
	if _, err := Run(t.Context(), x, Job{Source: sourceOf(document)}); err == nil {
		t.Error("a closed index is asked")
	}
}
