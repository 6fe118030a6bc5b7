package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// TestSecretChangesNoOutput runs real text under two secrets and under none, with many segments of
// one width and many equally common ones. The kept records, reports and quotes must be the same.
func TestSecretChangesNoOutput(t *testing.T) {
	guide, err := os.ReadFile("../../../testdata/bilingual/guide.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := append(guide, tiedDocuments()...)
	kept, report, common := outputsUnder(t, nil, lines)
	if len(common) < 10 {
		t.Fatalf("%d common segments: the test proves nothing of them", len(common))
	}
	for _, secret := range []string{"0123456789abcdef", "another one, 16b"} {
		k, r, c := outputsUnder(t, []byte(secret), lines)
		if k != kept || r != report {
			t.Errorf("under %q other documents are kept or reported: %s", secret, cmp.Diff(report, r))
		}
		if diff := cmp.Diff(common, c); diff != "" {
			t.Errorf("under %q others are the commonest segments (-without +with):\n%s", secret, diff)
		}
	}
}

// tiedDocuments returns documents with more segments of one width than are chosen. Each document
// lacks some of these. All have a menu of twenty entries.
func tiedDocuments() []byte {
	var b bytes.Buffer
	word := func(of ...any) uint64 { return xxh3.HashString(fmt.Sprint(of...)) }
	for d := range 60 {
		var text strings.Builder
		for s := range 80 {
			if (s*7+d)%11 > 0 {
				fmt.Fprintf(&text, "tied segment %016x. ", word(s, " in ", d%12))
			}
		}
		for s := range 30 * (d % 2) {
			fmt.Fprintf(&text, "sentence %016x %016x. ", word(d, " says ", s), word(s, " by ", d))
		}
		for s := range 20 {
			fmt.Fprintf(&text, "an entry, number %02d of the long menu that all the pages of the site have at their foot and nobody reads. ", s)
		}
		line, err := json.Marshal(map[string]string{"id": fmt.Sprint("tied ", d), "text": text.String()})
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func outputsUnder(t *testing.T, secret, lines []byte) (kept, report string, common []report.CommonSegment) {
	t.Helper()
	dir := t.TempDir()
	scheme := feature.Scheme{Key: secret}
	x, err := index.Open(context.Background(), filepath.Join(dir, "index"), index.Options{Key: index.KeyAsIs, Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	names := [2]string{filepath.Join(dir, "kept"), filepath.Join(dir, "report")}
	var writers [2]*output.Writer
	for i, name := range names {
		if writers[i], err = output.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	inputs := []input.Input{{Path: input.Stdin, Name: "in", Size: int64(len(lines))}}
	summary, err := Run(context.Background(), x, Job{
		Source: corpus.NewSource(inputs, jsonl.Format{}, corpus.SourceConfig{Stdin: bytes.NewReader(lines)}),
		Scheme: scheme, Workers: 2, MaxBad: 0,
		Outputs: Outputs{Kept: writers[0], Report: writers[1]},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	var texts [2]string
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	return texts[0], texts[1], summary.Commonest
}
