package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/bench/crash"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/dedup/oracle"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

// readers asks an index while runs write it, holds every answer against what the
// checkpoint that gave it was to say, and the CPU time of the runs against that of runs
// that nobody asked meanwhile.
func readers(ctx context.Context, args []string, out io.Writer) (err error) {
	fs := flag.NewFlagSet("readers", flag.ContinueOnError)
	s := reading{out: out}
	fs.IntVar(&s.queries, "queries", 100_000, "that have to be answered")
	fs.IntVar(&s.rounds, "rounds", 5, "runs that are asked, at least, and as many alone, in alternation")
	fs.IntVar(&s.readers, "readers", 2, "that ask at once")
	jobs := fs.Int("j", 1, "goroutines of a run")
	saved := fs.String("checkpoint-bytes", "4M", "of records between two checkpoints")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("readers: give JSONL files")
	}
	if s.dir, err = os.MkdirTemp("", "firstseen-readers-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	program, err := crash.Build(ctx, "github.com/firstseen/firstseen", s.dir)
	if err != nil {
		return err
	}
	s.command = append([]string{program.Path(), "dedup", "-q", "--no-key", "--docs", "200k", "-j", fmt.Sprint(*jobs), "--checkpoint-bytes", *saved, "--out", os.DevNull}, fs.Args()...)
	if s.docs, err = readDocuments(ctx, feature.Scheme{}, fs.Args()...); err != nil {
		return err
	}
	return s.measure(ctx)
}

// reading is a measurement of readers beside runs.
type reading struct {
	out             io.Writer
	dir             string
	command         []string // of a run, but for the index
	docs            []document
	queries, rounds int
	readers         int
	answers         []answer
	checks
}

// An answer is what an index of so many documents said of one of docs.
type answer struct {
	kept, doc int
	verdict   dedup.Result
	nums      []uint32 // of its id
}

func (s *reading) measure(ctx context.Context) error {
	fmt.Fprint(s.out, "| round | run alone, CPU s | asked, CPU s | ratio | queries | checkpoints asked |\n|---|---|---|---|---|---|\n")
	var ratios []float64
	var alone, asked time.Duration
	for round := 0; round < s.rounds || len(s.answers) < s.queries; round++ {
		a, err := s.run(ctx, nil)
		if err != nil {
			return err
		}
		at := len(s.answers)
		b, err := s.run(ctx, s.ask)
		if err != nil {
			return err
		}
		if round == 0 || a < alone {
			alone = a
		}
		if round == 0 || b < asked {
			asked = b
		}
		ratios = append(ratios, b.Seconds()/a.Seconds())
		fmt.Fprintf(s.out, "| %d | %.2f | %.2f | %.3f | %d | %d |\n", round+1, a.Seconds(), b.Seconds(), ratios[round], len(s.answers)-at, states(s.answers[at:]))
	}
	slices.Sort(ratios)
	wrong, err := s.compare()
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	s.expect(wrong == 0 && len(s.answers) > 0, "each answer is some checkpoint's truth", "%d of %d are not, of %d checkpoints", wrong, len(s.answers), states(s.answers))
	median := ratios[len(ratios)/2]
	s.expect(median < 1.05, "the run's CPU time grows by less than 5%", "%+.1f%%, median of the rounds; %.2f s the least alone, and %.2f asked", 100*(median-1), alone.Seconds(), asked.Seconds())
	s.write(s.out)
	return s.failed()
}

func (s *reading) index() string { return filepath.Join(s.dir, "index") }

// run makes a run into a new index, with ask beside it until it ends, and returns what CPU
// time it took.
func (s *reading) run(ctx context.Context, ask func(ctx context.Context) error) (cpu time.Duration, err error) {
	if err := os.RemoveAll(s.index()); err != nil {
		return 0, err
	}
	beside, stop := context.WithCancel(ctx)
	defer stop()
	var asking errgroup.Group
	if ask != nil {
		asking.Go(func() error { return ask(beside) })
	}
	cmd := exec.CommandContext(ctx, s.command[0], slices.Concat(s.command[1:], []string{"--index", s.index()})...)
	cmd.Stderr = s.out
	err = cmd.Run()
	stop()
	if err = errors.Join(err, asking.Wait()); err != nil {
		return 0, err
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// ask asks from several goroutines until ctx ends.
func (s *reading) ask(ctx context.Context) error {
	answers := make([][]answer, s.readers)
	var group errgroup.Group
	for i := range answers {
		r := rand.New(rand.NewPCG(uint64(len(s.answers)), uint64(i)))
		group.Go(func() (err error) {
			for ctx.Err() == nil && err == nil {
				answers[i], err = s.askSome(r, answers[i])
			}
			return err
		})
	}
	err := group.Wait()
	for i := range answers {
		s.answers = append(s.answers, answers[i]...)
	}
	return err
}

// askSome opens the newest checkpoint and asks it some questions, as many readers would.
func (s *reading) askSome(r *rand.Rand, answers []answer) (_ []answer, err error) {
	// Who reads before the run has begun keeps it from beginning.
	if _, err := os.Stat(filepath.Join(s.index(), index.TableFile+".readers")); errors.Is(err, fs.ErrNotExist) {
		time.Sleep(time.Millisecond)
		return answers, nil
	}
	x, err := index.OpenReader(s.index(), nil)
	if err != nil {
		return answers, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	d, err := x.Deduper(dedup.Rules{Threshold: dedup.DefaultThreshold})
	if err != nil {
		return answers, err
	}
	for range 1 + r.IntN(300) {
		a := answer{kept: int(x.Table().Documents()), doc: r.IntN(len(s.docs))}
		doc := &s.docs[a.doc]
		if a.verdict, err = d.Check(doc.id, &doc.set); err != nil {
			return answers, err
		}
		a.verdict.Also, a.verdict.SharedSegments = slices.Clone(a.verdict.Also), slices.Clone(a.verdict.SharedSegments)
		if a.nums, err = x.Table().ByID(doc.id); err != nil {
			return answers, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// states is how many checkpoints were asked.
func states(answers []answer) int {
	seen := map[int]bool{}
	for i := range answers {
		seen[answers[i].kept] = true
	}
	return len(seen)
}

// compare holds the answers against the oracle with as many documents as the checkpoints
// had: those that the oracle keeps, and those that only count.
func (s *reading) compare() (wrong int, err error) {
	slices.SortFunc(s.answers, func(a, b answer) int { return a.kept - b.kept })
	o, kept, next := oracle.New(dedup.Rules{Threshold: dedup.DefaultThreshold}), 0, 0
	nums := map[string][]uint32{}
	for i := range s.answers {
		a := &s.answers[i]
		for ; kept < a.kept; next++ {
			doc := &s.docs[next]
			switch r := o.Decide(doc.id, &doc.set); {
			case r.Kept:
				kept++
				nums[doc.id] = append(nums[doc.id], uint32(kept))
			case r.Counted:
				kept++
			}
		}
		doc := &s.docs[a.doc]
		want := o.Check(doc.id, &doc.set)
		if sameResult(&want, &a.verdict) && slices.Equal(nums[doc.id], a.nums) {
			continue
		}
		if wrong++; wrong <= maxWrong {
			fmt.Fprintf(s.out, "of %d documents, %s: %+v, %v, want %+v, %v\n", a.kept, doc.id, a.verdict, a.nums, want, nums[doc.id])
		}
	}
	return wrong, nil
}
