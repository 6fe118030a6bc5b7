package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/firstseen/firstseen/internal/pipeline"
)

// scale runs the whole pipeline on 1, 2, 4 and so on processors, and measures the serial part of a
// document's time. Beyond this machine's processors it computes the larger of that part and the CPU
// time divided by the processors.
func scale(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("scale", flag.ContinueOnError)
	memory := fs.Uint64("memory", 1<<30, "bytes of the filter; one that fits the caches tells nothing of waiting for memory")
	rounds := fs.Int("rounds", 3, "runs of each kind; the least wall time counts")
	most := fs.Int("most", runtime.NumCPU(), "most processors")
	profile := fs.String("cpuprofile", "", "write a CPU profile of the runs with most processors here")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("scale: give uncompressed JSONL files")
	}
	fmt.Fprintln(out, "| file | -j | wall s | against -j 1 | user CPU s | documents/s | serial ns a document | documents/s on 16 | on 64 |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	for _, path := range fs.Args() {
		var one time.Duration
		for jobs := 1; jobs <= *most; jobs *= 2 {
			if *profile != "" && 2*jobs > *most {
				f, err := os.Create(*profile)
				if err != nil {
					return err
				}
				defer f.Close()
				if err := pprof.StartCPUProfile(f); err != nil {
					return err
				}
				defer pprof.StopCPUProfile()
			}
			best, err := scaleBest(ctx, path, jobs, *rounds, *memory)
			if err != nil {
				return err
			}
			if jobs == 1 {
				one = best.wall
			}
			best.print(out, filepath.Base(path), jobs, one)
		}
	}
	return nil
}

// scaled holds the cost of a run and its number of documents.
type scaled struct {
	cost
	documents int64
}

func scaleBest(ctx context.Context, path string, jobs, rounds int, memory uint64) (best scaled, err error) {
	for i := range rounds {
		live := new(pipeline.Live)
		c, _, err := speedOnce(ctx, path, jobs, speedOptions(memory, false), live)
		if err != nil {
			return best, err
		}
		if i == 0 || c.wall < best.wall {
			best = scaled{c, live.Documents.Load()}
		}
	}
	return best, nil
}

// serialPart returns the part of a one-job run that more jobs do not shorten, by Amdahl's law.
func (s *scaled) serialPart(jobs int, one time.Duration) time.Duration {
	if jobs == 1 {
		return one
	}
	return max(0, (time.Duration(jobs)*s.wall-one)/time.Duration(jobs-1))
}

func (s *scaled) print(out io.Writer, file string, jobs int, one time.Duration) {
	serial := float64(s.serialPart(jobs, one)) / float64(s.documents)
	fmt.Fprintf(out, "| %s | %d | %.2f | %.2f | %.2f | %.0f | %.0f |", file, jobs, s.wall.Seconds(),
		one.Seconds()/s.wall.Seconds(), s.cpu.Seconds(), float64(s.documents)/s.wall.Seconds(), serial)
	for _, processors := range []float64{16, 64} {
		cpu := float64(s.cpu) / float64(s.documents) / processors
		fmt.Fprintf(out, " %.0f |", 1e9/max(serial, cpu))
	}
	fmt.Fprintln(out)
}
