package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/firstseen/firstseen/bench/blocks"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/hamming"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/effort"
)

// near is the distance that copies may have.
const near = 3

// simhash measures how fingerprints that are near are found: whether all are, how many are
// looked at, and how long that takes. Given files, it measures the fingerprints of their
// documents too, and look-ups among numbers that are spread like them.
func simhash(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("simhash", flag.ContinueOnError)
	recall := fs.Int("recall", 100_000, "fingerprints of which all pairs are compared; 0 for none")
	sizes := fs.String("sizes", "1,10,50", "millions of fingerprints to look up in")
	queries := fs.Int("queries", 20_000, "look-ups")
	table := fs.String("terms", "", "with files: the table of terms that weighs them")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var like []uint64
	if fs.NArg() > 0 {
		scheme := feature.Scheme{Method: "simhash"}
		if *table != "" {
			var err error
			if scheme.Terms, err = index.ReadTermsFile(*table); err != nil {
				return err
			}
		}
		var err error
		if like, err = realPrints(ctx, out, scheme, fs.Args()); err != nil {
			return err
		}
	} else if *recall > 0 {
		if err := allPairs(out, *recall); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\n%-28s %12s %8s %12s %12s %10s %10s\n", "layout", "numbers", "tables", "bytes each", "looked at", "µs", "µs, 99.9%")
	for size := range strings.SplitSeq(*sizes, ",") {
		var millions int
		if _, err := fmt.Sscanf(size, "%d", &millions); err != nil {
			return fmt.Errorf("-sizes %s: %w", *sizes, err)
		}
		if err := lookUps(ctx, out, millions*1_000_000, *queries, like); err != nil {
			return err
		}
	}
	return nil
}

// layouts are those compared; each but the second finds all.
var layouts = []struct {
	name string
	blocks.Layout
}{
	{"4 blocks, key of 1", blocks.Layout{Blocks: 4, Chosen: 1}},
	{"2 blocks, key of 1", blocks.Layout{Blocks: 2, Chosen: 1}},
	{"5 blocks, key of 2", blocks.Layout{Blocks: 5, Chosen: 2}},
	{"6 blocks, key of 3", blocks.Layout{Blocks: 6, Chosen: 3}},
}

// fingerprints are n numbers, of which a quarter are one to six bits from another. Where
// there are some to be like, each block of 16 bits of the others is that of one of these,
// half of them with another bit: so the values of blocks are as unevenly spread.
func fingerprints(n int, seed uint64, like []uint64) []uint64 {
	rng := rand.New(rand.NewPCG(seed, 12))
	numbers := make([]uint64, n)
	for i := range numbers {
		if numbers[i] = drawn(rng, like); i > 0 && rng.IntN(4) == 0 {
			numbers[i] = flipped(rng, numbers[rng.IntN(i)], 1+rng.IntN(2*near))
		}
	}
	return numbers
}

func drawn(rng *rand.Rand, like []uint64) (number uint64) {
	if len(like) == 0 {
		return rng.Uint64()
	}
	for shift := 0; shift < 64; shift += 16 {
		block := like[rng.IntN(len(like))] >> shift & (1<<16 - 1)
		if rng.IntN(2) == 0 {
			block ^= 1 << rng.IntN(16)
		}
		number |= block << shift
	}
	return number
}

// flipped is a number with so many other bits.
func flipped(rng *rand.Rand, n uint64, distance int) uint64 {
	other := n
	for bits.OnesCount64(other^n) < distance {
		other ^= 1 << rng.IntN(64)
	}
	return other
}

// allPairs compares what is found with all pairs.
func allPairs(out io.Writer, n int) error {
	numbers := fingerprints(n, 1, nil)
	index, err := hamming.New(near)
	if err != nil {
		return err
	}
	var tables [][]*blocks.Table
	for _, l := range layouts {
		var of []*blocks.Table
		for _, mask := range l.Masks() {
			of = append(of, blocks.New(mask, slices.Clone(numbers), make([]uint64, n)))
		}
		tables = append(tables, of)
	}
	for _, number := range numbers {
		if err := index.Add(number); err != nil {
			return err
		}
	}
	pairs, found, inLayout := 0, 0, make([]int, len(layouts))
	var got []uint64
	for _, number := range numbers {
		var want []uint64
		for _, other := range numbers {
			if bits.OnesCount64(other^number) <= near {
				want = append(want, other)
			}
		}
		pairs += len(want) - 1 // not itself
		got, _ = index.Find(got[:0], number)
		found += common(want, got) - 1
		for i := range layouts {
			var all []uint64
			for _, t := range tables[i] {
				all, _ = t.Find(all, number, near)
			}
			inLayout[i] += common(distinct(want), distinct(all)) - 1 - (len(distinct(want)) - len(want))
		}
	}
	fmt.Fprintf(out, "all pairs of %d fingerprints: %d ordered pairs within %d bits\n", n, pairs, near)
	fmt.Fprintf(out, "%-28s found %d, recall %.6f\n", "feature/hamming", found, float64(found)/float64(pairs))
	for i, l := range layouts {
		fmt.Fprintf(out, "%-28s found %d, recall %.6f\n", l.name, inLayout[i], float64(inLayout[i])/float64(pairs))
	}
	return nil
}

func distinct(numbers []uint64) []uint64 {
	slices.Sort(numbers)
	return slices.Compact(slices.Clone(numbers))
}

// common is how many of want are in got, each as often as it is there.
func common(want, got []uint64) (n int) {
	slices.Sort(want)
	slices.Sort(got)
	for i, j := 0, 0; i < len(want) && j < len(got); {
		switch {
		case want[i] < got[j]:
			i++
		case want[i] > got[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// lookUps measures look-ups among n fingerprints, half of them for copies.
func lookUps(ctx context.Context, out io.Writer, n, queries int, like []uint64) error {
	numbers := fingerprints(n, 2, like)
	rng := rand.New(rand.NewPCG(3, 12))
	asked := make([]uint64, queries)
	for i := range asked {
		if asked[i] = drawn(rng, like); i%2 == 0 {
			asked[i] = flipped(rng, numbers[rng.IntN(n)], 1+rng.IntN(near))
		}
	}
	if err := growing(out, numbers, asked); err != nil {
		return err
	}
	spare := make([]uint64, n)
	for _, l := range layouts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		looked, took, masks := 0, make([]time.Duration, queries), l.Masks()
		var found []uint64
		for _, mask := range masks { // one at a time, so that they fit into memory
			t := blocks.New(mask, slices.Clone(numbers), spare)
			for i, number := range asked {
				begun := time.Now()
				var more int
				found, more = t.Find(found[:0], number, near)
				took[i] += time.Since(begun)
				looked += more
			}
		}
		tell(out, l.name, n, len(masks), float64(8*len(masks)), looked, took)
	}
	return nil
}

// growing measures the index of the program.
func growing(out io.Writer, numbers, asked []uint64) error {
	index, err := hamming.New(near)
	if err != nil {
		return err
	}
	begun := time.Now()
	for _, number := range numbers {
		if err := index.Add(number); err != nil {
			return err
		}
	}
	added := time.Since(begun)
	looked, took := 0, make([]time.Duration, len(asked))
	var found []uint64
	for i, number := range asked {
		begun := time.Now()
		var more int
		found, more = index.Find(found[:0], number)
		took[i] = time.Since(begun)
		looked += more
	}
	tell(out, "feature/hamming", len(numbers), near+1, float64(index.Bytes())/float64(len(numbers)), looked, took)
	fmt.Fprintf(out, "%-28s %12d %37.2f µs an addition\n", "", len(numbers), float64(added.Microseconds())/float64(len(numbers)))
	return nil
}

func tell(out io.Writer, name string, n, tables int, bytes float64, looked int, took []time.Duration) {
	var all time.Duration
	for _, t := range took {
		all += t
	}
	slices.Sort(took)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	fmt.Fprintf(out, "%-28s %12d %8d %12.1f %12.1f %10.2f %10.2f\n", name, n, tables, bytes,
		float64(looked)/float64(len(took)), micros(all)/float64(len(took)), micros(took[len(took)*999/1000]))
}

// realPrints measures the fingerprints of documents, of which those at a distance that
// makes a copy are left out, as a run does: how many are looked at, and how many that
// would be of 50 million that are spread like them.
func realPrints(ctx context.Context, out io.Writer, scheme feature.Scheme, files []string) (kept []uint64, err error) {
	index, err := hamming.New(near)
	if err != nil {
		return nil, err
	}
	extractor, err := feature.NewExtractor(scheme)
	if err != nil {
		return nil, err
	}
	var sketch feature.Sketch
	var found []uint64
	documents, bytes := 0, 0
	begun := effort.CPU()
	err = readRecords(ctx, files, func(_, text []byte) {
		documents++
		bytes += len(text)
		extractor.Extract(&sketch, text)
		if len(sketch.Data) == 0 {
			return
		}
		number := binary.LittleEndian.Uint64(sketch.Data)
		if found, _ = index.Find(found[:0], number); len(found) == 0 && err == nil {
			err = index.Add(number)
			kept = append(kept, number)
		}
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s: %d documents of %d bytes, %.1f µs of CPU each, reading included; %d fingerprints kept\n",
		scheme.Name(), documents, bytes/documents, float64((effort.CPU()-begun).Microseconds())/float64(documents), len(kept))
	for _, l := range layouts {
		looked := 0
		for _, mask := range l.Masks() {
			t := blocks.New(mask, slices.Clone(kept), make([]uint64, len(kept)))
			for _, number := range kept {
				_, more := t.Find(nil, number, -1)
				looked += more - 1 // not itself
			}
		}
		each := float64(looked) / float64(len(kept))
		fmt.Fprintf(out, "  %-20s looked at %8.2f each; of 50 million %10.0f\n", l.name, each, each*50e6/float64(len(kept)))
	}
	return kept, nil
}
