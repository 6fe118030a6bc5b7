package confirm

import (
	"errors"
	"syscall"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// TestPassingErrorsEndTheRun checks that a passing error of an input is not taken for its loss.
func TestPassingErrorsEndTheRun(t *testing.T) {
	const text = "one two three four five six seven eight"
	name := write(t, "in.jsonl", []byte(`{"id":"a","text":"`+text+`"}`+"\n"))
	record := recordOf(t, text, Place{File: name, At: corpus.Place{Record: 1}})
	in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	defer in.Close()
	f, err := New(feature.Scheme{}, in)
	if err != nil {
		t.Fatal(err)
	}
	f.Condition = similarity.Condition{Score: "lcs", Least: 0.5}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: files.Max}); err != nil {
		t.Fatal(err)
	}
	_, err = f.Confirm([]byte(text), []byte("a"), record)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("without a file to be had: %v", err)
	}
}
