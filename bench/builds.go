package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// builds are two builds of firstseen, run in alternation: a busy machine slows both alike.
type builds struct {
	old, new string // programs
	jobs     []int  // values of -j
	docs     string // value of --docs
	rounds   int
}

// taken holds the times of one run.
type taken struct{ user, wall time.Duration }

// compare prints the least times and the median ratio, old to new, of consecutive runs.
func (b *builds) compare(ctx context.Context, files []string, out io.Writer) error {
	fmt.Fprintln(out, "| file | -j | user CPU s, old | new | times as fast | wall s, old | new | times as fast |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, file := range files {
		for _, jobs := range b.jobs {
			var runs [2][]taken
			for range b.rounds {
				for i, program := range []string{b.old, b.new} {
					t, err := b.run(ctx, program, jobs, file)
					if err != nil {
						return err
					}
					runs[i] = append(runs[i], t)
				}
			}
			user := summed(&runs, func(t taken) time.Duration { return t.user })
			wall := summed(&runs, func(t taken) time.Duration { return t.wall })
			fmt.Fprintf(out, "| %s | %d | %s | %s |\n", filepath.Base(file), jobs, user, wall)
		}
	}
	return nil
}

// summed formats the least time of each build and the median ratio.
func summed(runs *[2][]taken, of func(taken) time.Duration) string {
	least := [2]time.Duration{of(runs[0][0]), of(runs[1][0])}
	var ratios []float64
	for i := range runs[0] {
		a, b := of(runs[0][i]), of(runs[1][i])
		least[0], least[1] = min(least[0], a), min(least[1], b)
		ratios = append(ratios, a.Seconds()/b.Seconds())
	}
	slices.Sort(ratios)
	return fmt.Sprintf("%.2f | %.2f | %.2f", least[0].Seconds(), least[1].Seconds(), ratios[len(ratios)/2])
}

func (b *builds) run(ctx context.Context, program string, jobs int, file string) (t taken, err error) {
	cmd := exec.CommandContext(ctx, program, "dedup", "-q", "-j", strconv.Itoa(jobs), "--docs", b.docs, "--out", os.DevNull, "--report", os.DevNull, file)
	cmd.Stderr = os.Stderr
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return t, fmt.Errorf("%s: %w", program, err)
	}
	return taken{cmd.ProcessState.UserTime(), time.Since(begun)}, nil
}

// readJobs parses the numbers of processors to measure with.
func readJobs(list string) (jobs []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-jobs %s: want numbers with commas", list)
		}
		jobs = append(jobs, n)
	}
	return jobs, nil
}
