package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bench/crash"
	"github.com/firstseen/firstseen/bench/texts"
	"github.com/firstseen/firstseen/feature"
)

// sampleFile writes documents of all kinds to a file.
func sampleFile(t *testing.T, docs int) string {
	t.Helper()
	var out strings.Builder
	for i, s := 0, texts.New(1); i < docs; i++ {
		out.WriteString(texts.Line(fmt.Sprint("d", i), append(s.Next(), "Home, products, news of the week and how to reach us.")))
	}
	path := filepath.Join(t.TempDir(), "sample.jsonl")
	if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Answers beside a run are right, and of an oracle that knows other documents they would
// not be. What time a run takes is no matter of tests.
func TestReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	ctx, path := context.Background(), sampleFile(t, 1500)
	s := reading{out: new(bytes.Buffer), dir: t.TempDir(), readers: 2, rounds: 1, queries: 100}
	program, err := crash.Build(ctx, "github.com/firstseen/firstseen", s.dir)
	if err != nil {
		t.Fatal(err)
	}
	s.command = []string{program.Path(), "dedup", "-q", "--no-key", "--docs", "10k", "--checkpoint-bytes", "30k", "--out", os.DevNull, path}
	if s.docs, err = readDocuments(ctx, feature.Scheme{}, path); err != nil {
		t.Fatal(err)
	}
	if err := s.measure(ctx); len(s.Checks) == 0 || !s.Checks[0].OK || states(s.answers) < 2 {
		t.Fatalf("%v\n%s", err, s.out)
	}
	for i := range s.answers {
		s.answers[i].kept = max(1, s.answers[i].kept/2)
	}
	if wrong, err := s.compare(); err != nil || wrong == 0 {
		t.Errorf("of half of the documents %d of %d answers are wrong: %v", wrong, len(s.answers), err)
	}
}
