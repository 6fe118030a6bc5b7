package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/firstseen/firstseen/internal/engine/report"
)

// millionReport holds all figures of a run. The JSON form is for comparing runs.
type millionReport struct {
	Docs         uint64          `json:"docs"`
	Seed         uint64          `json:"seed"`
	Duplicates   float64         `json:"duplicates"`
	Posts        float64         `json:"posts"`
	FilterOnly   bool            `json:"filter_only"`
	FilterBytes  uint64          `json:"filter_bytes"`
	Rows         []row           `json:"rows"`
	Total        seconds         `json:"total"`
	GeneratorCPU float64         `json:"generator_cpu_seconds"`
	PeakMemory   memory          `json:"peak_memory"`
	Verdicts     verdicts        `json:"verdicts"`
	Warm         *latency        `json:"lookup_warm,omitempty"`
	Cold         *latency        `json:"lookup_cold,omitempty"`
	Rebuild      float64         `json:"rebuild_seconds"`
	RebuildCPU   float64         `json:"rebuild_cpu_seconds"`
	Summary      *report.Summary `json:"summary"`
	checks

	start usage
}

type seconds struct {
	Wall float64 `json:"wall_seconds"`
	CPU  float64 `json:"cpu_seconds"`
}

func toSeconds(u usage) seconds { return seconds{u.wall, u.cpu} }

// row is the state after this many documents; times are since the last row.
type row struct {
	Docs      int64   `json:"docs"`
	Rate      float64 `json:"docs_per_second"`
	CPU       float64 `json:"cpu_seconds"`
	CPUMicros float64 `json:"cpu_micros_per_doc"`
	Memory    memory  `json:"memory"`
	Entries   uint64  `json:"entries"`
	FileBytes int64   `json:"file_bytes"`
	FreeBytes int64   `json:"free_bytes"`
	Runs      []int   `json:"runs"`
	Merges    uint64  `json:"merges"`
	Keys      uint64  `json:"distinct_keys"`
	Fill      float64 `json:"fill"`
	Probes    int     `json:"probes"`
	Hits      int     `json:"false_positives"`
	Predicted float64 `json:"predicted_rate"`
	ByFill    float64 `json:"rate_by_fill"`
}

// memory is the memory of the process, in bytes.
type memory struct {
	Resident  int64 `json:"resident"`
	Anonymous int64 `json:"anonymous"`
}

func newMillionReport(cfg millionConfig) *millionReport {
	return &millionReport{
		Docs: cfg.gen.Docs, Seed: cfg.gen.Seed, Duplicates: cfg.gen.Duplicates, Posts: cfg.gen.Posts, FilterOnly: cfg.filterOnly,
	}
}

const rowHead = `
| documents | docs/s | CPU s | µs/doc | RSS MiB | anon MiB | keys M | B/key on disk | runs | merges | fill | false positives | predicted |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`

const mib = 1 << 20

func (r *row) write(w io.Writer) {
	perKey, runs := "-", "-"
	if r.Entries > 0 {
		perKey = fmt.Sprintf("%.2f", float64(r.FileBytes-r.FreeBytes)/float64(r.Entries))
		runs = strings.Trim(fmt.Sprint(r.Runs), "[]")
	}
	fmt.Fprintf(w, "| %d | %.0f | %.1f | %.1f | %d | %d | %.1f | %s | %s | %d | %.4f | %.3g | %.3g |\n",
		r.Docs, r.Rate, r.CPU, r.CPUMicros, r.Memory.Resident/mib, r.Memory.Anonymous/mib, float64(r.Keys)/1e6,
		perKey, runs, r.Merges, r.Fill, float64(r.Hits)/float64(r.Probes), r.Predicted)
}

// diskPerDoc is the maximum number of bytes of a document's record, with its ID and sketch.
const diskPerDoc = 102

// evaluate compares the figures with the promises.
func (r *millionReport) evaluate(cfg millionConfig) {
	if !cfg.watched {
		r.evaluateMemory()
	}
	r.evaluateRates()
	r.Verdicts.evaluate(r)
	if last := len(r.Rows) - 1; last >= 0 && !cfg.filterOnly {
		perKey := float64(r.Rows[last].FileBytes) / float64(r.Rows[last].Entries)
		// Ten bytes per segment, plus the document's record. A small file is mostly room to grow.
		perDoc := float64(r.Rows[last].Entries) / float64(r.Rows[last].Docs)
		if r.Docs >= 1_000_000 {
			limit := 10 + diskPerDoc/perDoc
			r.expect(perKey <= limit, fmt.Sprintf("disk at most 10 bytes a segment and %d a document, %.1f in all", diskPerDoc, limit), "%.2f", perKey)
		}
	}
	if cfg.headlines {
		r.evaluateTimes()
	}
}

func (r *millionReport) evaluateMemory() {
	if r.PeakMemory.Anonymous == 0 {
		return // unknown on this system
	}
	what, got, room := "anonymous memory at most filter + 512 MiB", r.PeakMemory.Anonymous, int64(512*mib)
	if r.FilterOnly {
		what, got, room = "resident memory at most filter + 200 MiB", r.PeakMemory.Resident, 200*mib
	}
	r.expect(got <= int64(r.FilterBytes)+room, what, "filter + %d MiB", (got-int64(r.FilterBytes))/mib)
}

// evaluateRates compares the rate by the bits set with the predicted one. With enough hits for 3%
// to mean something, it also compares the measured rate.
func (r *millionReport) evaluateRates() {
	const enough = 10_000
	for _, row := range r.Rows {
		if row.Predicted < 1e-9 {
			continue
		}
		off := row.ByFill/row.Predicted - 1
		r.expect(math.Abs(off) <= 0.03, fmt.Sprintf("rate by the bits set within 3%% of the predicted, at %d documents", row.Docs), "%+.2f%%", 100*off)
		if row.Hits >= enough {
			off = float64(row.Hits)/float64(row.Probes)/row.Predicted - 1
			r.expect(math.Abs(off) <= 0.03, fmt.Sprintf("false positives within 3%% of the predicted, at %d documents", row.Docs), "%+.2f%%", 100*off)
		}
	}
}

func (r *millionReport) evaluateTimes() {
	first, last := r.Rows[0], r.Rows[len(r.Rows)-1]
	r.expect(r.Total.Wall <= 480, "at most 8 minutes", "%.0f s", r.Total.Wall)
	r.expect(last.Rate >= 0.85*first.Rate, "the last million at 85% of the speed of the first", "%.0f%%", 100*last.Rate/first.Rate)
	if r.Warm != nil {
		r.expect(r.Warm.P99 <= 1000, "look-up p99 at most 1 ms, warm", "%.0f µs", r.Warm.P99)
	}
	if !r.FilterOnly {
		r.expect(r.Rebuild <= 60, "filter rebuilt in at most 60 s", "%.1f s", r.Rebuild)
	}
}

// write writes all figures but the rows, which are already written.
func (r *millionReport) write(w io.Writer) {
	mb := float64(r.Summary.RecordBytes) / 1e6
	fmt.Fprintf(w, "\n%d documents, %.0f MB in %.1f s (%.0f documents/s, %.0f MB/s); %.1f CPU s, %.1f of them the generator's (%.0f MB/s)\n",
		r.Docs, mb, r.Total.Wall, float64(r.Docs)/r.Total.Wall, mb/r.Total.Wall, r.Total.CPU, r.GeneratorCPU, mb/r.GeneratorCPU)
	fmt.Fprintf(w, "peak memory: resident %d MiB, anonymous %d MiB; filter %d MiB\n",
		r.PeakMemory.Resident/mib, r.PeakMemory.Anonymous/mib, r.FilterBytes/mib)
	if t := r.Summary.Table; t != nil {
		fmt.Fprintf(w, "table: asked for %d documents, %d keys confirmed, %d refuted\n", t.Lookups, t.Confirmed, t.Refuted)
	}
	r.Warm.write(w, "warm")
	r.Cold.write(w, "after dropping the page cache")
	if r.Rebuild > 0 {
		fmt.Fprintf(w, "filter rebuilt from the table, opening included, in %.1f s (%.1f CPU s)\n", r.Rebuild, r.RebuildCPU)
	}
	r.Verdicts.write(w)
	r.checks.write(w)
}
