package cli

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAgainstEqualsOneRun divides a stream at random. Each part gets an index and is read against
// those of earlier parts. Together they must keep and report the bytes of one run.
func TestAgainstEqualsOneRun(t *testing.T) {
	t.Setenv(epochVariable, "1700000000")
	all := slices.Collect(strings.Lines(readFile(t, guide)))
	for seed := range 6 { // each takes about ten runs with indexes on disk
		rng := rand.New(rand.NewPCG(uint64(seed), 13))
		lines := slices.Clone(all)
		if seed > 0 {
			rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
		parts := divided(rng, lines)
		dir := t.TempDir()
		dedup := func(name string, lines []string, args ...string) (kept, report string) {
			return dedupIn(t, 1+rng.IntN(4), dir, name, lines, args...)
		}
		wantKept, wantReport := dedup("in", lines)
		var kept, report strings.Builder
		var against []string
		for i, part := range parts {
			own := filepath.Join(dir, fmt.Sprint("index", i))
			k, r := dedup("in", part, append([]string{"--index", own}, against...)...)
			kept.WriteString(k)
			report.WriteString(r)
			against = append(against, "--against", own)
		}
		if kept.String() != wantKept {
			t.Error("the parts keep other lines than one run")
		}
		// Places refer to the parts, so they are left out.
		if withoutPlaces(report.String()) != withoutPlaces(wantReport) {
			t.Errorf("the parts report\n%s\nand one run\n%s", withoutPlaces(report.String()), withoutPlaces(wantReport))
		}
	}
}

// divided divides lines at random places.
func divided(rng *rand.Rand, lines []string) (parts [][]string) {
	for range 1 + rng.IntN(3) {
		n := rng.IntN(len(lines) + 1)
		parts = append(parts, lines[:n])
		lines = lines[n:]
	}
	return append(parts, lines)
}

// dedupIn runs dedup over lines and returns the kept lines and the report.
func dedupIn(t *testing.T, jobs int, dir, name string, lines []string, args ...string) (kept, report string) {
	in, out, told := filepath.Join(dir, name), filepath.Join(dir, "kept"), filepath.Join(dir, "report")
	writeFile(t, in, strings.Join(lines, ""))
	runHere(t, append([]string{"dedup", "-q", "--docs", "1k", "-j", strconv.Itoa(jobs), "--out", out, "--report", told, in}, args...)...)
	return readFile(t, out), readFile(t, told)
}

// withoutPlaces cuts file and line from the lines of a report.
func withoutPlaces(report string) string {
	return regexp.MustCompile(`,"file":.*`).ReplaceAllString(report, "")
}
