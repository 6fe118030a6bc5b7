package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/firstseen/firstseen/bench/gen"
)

// testDocs returns enough documents for several runs and merges of a table with a small memtable.
func testDocs() uint64 {
	if testing.Short() || raceEnabled {
		return 20_000
	}
	return 50_000
}

// TestTenMillionInSmall checks everything but the times on a smaller run of ten-million.
func TestTenMillionInSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	// The filter alone comes first, with the least memory. A table's is not all released.
	for _, test := range []struct {
		name       string
		docs       uint64
		duplicates float64
		filterOnly bool
	}{
		{"filter only, all unique", testDocs() / 10, 0, true},
		{"filter only", testDocs() / 10, 0.1, true},
		{"table", testDocs(), 0.1, false},
		{"half duplicates", testDocs() / 10, 0.5, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			cfg := millionConfig{
				gen:    gen.Config{Docs: test.docs, Seed: 2, Duplicates: test.duplicates},
				memory: test.docs * 96, filterOnly: test.filterOnly, dir: t.TempDir(),
				workers: 2, probes: 1 << 20, lookups: 500, memtable: 100_000,
				watched: raceEnabled,
			}
			report, err := runMillion(context.Background(), cfg, &out)
			if err != nil {
				t.Fatal(err)
			}
			if err := report.failed(); err != nil {
				t.Errorf("%v\n%s", err, out.Bytes())
			}
			checkRun(t, report, &cfg)
		})
	}
}

// checkRun checks that something could go wrong in the run.
func checkRun(t *testing.T, r *millionReport, cfg *millionConfig) {
	if len(r.Rows) != 10 || r.Summary.Documents != int64(cfg.gen.Docs) || r.Summary.Bad != 0 {
		t.Errorf("%d rows, %d documents, %d bad records", len(r.Rows), r.Summary.Documents, r.Summary.Bad)
	}
	if last := r.Rows[len(r.Rows)-1]; !cfg.filterOnly && cfg.gen.Docs >= 50_000 && last.Merges == 0 {
		t.Errorf("no merges: runs %v", last.Runs)
	}
	if cfg.gen.Duplicates == 0 || cfg.gen.Docs < 20_000 {
		return
	}
	for k := range gen.Kind(gen.Kinds) {
		if r.Verdicts.Kinds[k].Documents == 0 {
			t.Errorf("no document is %v", k)
		}
	}
}
