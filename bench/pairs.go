package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/internal/compare/textdiff"
)

// pairsOptions selects the pairs to show, and their style.
type pairsOptions struct {
	of, rule, set string
	generated     bool
	n             int
	seed          uint64
	style         textdiff.Style
}

func (c *pairsOptions) register(fs *flag.FlagSet) {
	fs.StringVar(&c.of, "of", "grey", "which `kind` of removal: all, grey, frame or false; or left: pairs that are alike and stay")
	fs.StringVar(&c.rule, "rule", "default", "the `key` of the rule that decides")
	fs.StringVar(&c.set, "set", "*", "only the sets whose names match this `pattern`")
	fs.BoolVar(&c.generated, "generated", false, "take sets made of the texts of the corpora")
	fs.IntVar(&c.n, "n", 10, "how many of each set, 0 for all")
	fs.Uint64Var(&c.seed, "seed", 1, "which ones")
	fs.IntVar(&c.style.Width, "width", terminalWidth(), "`columns` of both texts together")
	fs.BoolVar(&c.style.Color, "color", term.IsTerminal(int(os.Stdout.Fd())), "mark by colours and not by brackets")
	fs.BoolVar(&c.style.Whole, "whole", false, "do not fold what is alike")
}

// pairs prints removals with their witnesses side by side, for human judgement.
func pairs(ctx context.Context, args []string, out io.Writer) error {
	var c pairsOptions
	fs := flag.NewFlagSet("pairs", flag.ContinueOnError)
	c.register(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	if choices[c.of] == nil || fs.NArg() == 0 {
		return errors.New("pairs: give the directory of the corpora, and -of all, grey, frame, false or left")
	}
	chosen, err := chooseRules(c.rule)
	if err != nil {
		return err
	}
	sets, err := findSets(fs.Args())
	if err == nil && c.generated {
		sets, err = generatedSets(ctx, sets)
	}
	if err != nil {
		return err
	}
	for _, s := range sets {
		if ok, err := filepath.Match(c.set, filepath.Base(s.Name)); err != nil {
			return err
		} else if !ok {
			continue
		}
		if err := s.showPairs(ctx, out, chosen[0], &c); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

// showPairs decides the set by a rule and shows the chosen pairs.
func (s *labelled) showPairs(ctx context.Context, out io.Writer, maker ruleMaker, c *pairsOptions) error {
	if err := s.load(ctx); err != nil {
		return err
	}
	defer s.unload()
	rule, err := maker.new()
	if err != nil {
		return err
	}
	o, err := s.Decide(ctx, rule)
	if err != nil {
		return err
	}
	return s.show(out, sample(choices[c.of](s, o), c.n, c.seed), c.style)
}

func terminalWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		return width
	}
	return 160
}

// choices are the kinds of pairs to show, with the earlier document first.
var choices = map[string]func(*labelled, *eval.Outcome) [][2]int{
	"all":   removals(func(*labelled, int, int, *eval.Likeness) bool { return true }),
	"grey":  removals(func(_ *labelled, _, _ int, l *eval.Likeness) bool { return l.IsGrey() }),
	"frame": removals(func(s *labelled, doc, witness int, l *eval.Likeness) bool { return s.IsFrame(doc, witness, l) }),
	"false": removals(func(s *labelled, doc, witness int, l *eval.Likeness) bool { return s.IsFalse(doc, witness, l) }),
	"left":  (*labelled).left,
}

// removals returns a function that finds the removals accepted by want, in order of documents.
func removals(want func(s *labelled, doc, witness int, l *eval.Likeness) bool) func(*labelled, *eval.Outcome) [][2]int {
	return func(s *labelled, o *eval.Outcome) (found [][2]int) {
		for doc := range s.Docs {
			if witness, removed := o.Witness[doc]; removed {
				if l := s.Alike(doc, witness); want(s, doc, witness, &l) {
					found = append(found, [2]int{witness, doc})
				}
			}
		}
		return found
	}
}

// left returns the alike pairs with both documents kept.
func (s *labelled) left(o *eval.Outcome) (found [][2]int) {
	for i := range s.Pairs {
		if p := &s.Pairs[i]; p.Alike && s.IsLeft(o, p) {
			earlier, later := s.Of(p)
			found = append(found, [2]int{earlier, later})
		}
	}
	return found
}

// sample returns n pairs chosen by the seed, in their order.
func sample(all [][2]int, n int, seed uint64) [][2]int {
	if n == 0 || n >= len(all) {
		return all
	}
	chosen := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:n]
	slices.Sort(chosen)
	var some [][2]int
	for _, i := range chosen {
		some = append(some, all[i])
	}
	return some
}

func (s *labelled) show(out io.Writer, pairs [][2]int, style textdiff.Style) error {
	for i, p := range pairs {
		earlier, later := &s.Docs[p[0]], &s.Docs[p[1]]
		l := s.Alike(p[1], p[0])
		fmt.Fprintf(out, "%s\n%s, %d of %d: Jaccard %.2f, containment %.2f, contained %.2f, lcs %.2f\nearlier %s\nlater   %s\n",
			strings.Repeat("━", style.Width), s.Name, i+1, len(pairs), l.Jaccard, l.Containment, l.Contained, l.LCS, earlier.ID, later.ID)
		if err := textdiff.Write(out, earlier.Text, later.Text, style); err != nil {
			return err
		}
	}
	return nil
}
