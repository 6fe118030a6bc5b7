package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	plainly "github.com/firstseen/firstseen/bench/naive"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/index"
)

// methods compares every verdict of exact, shingles, imatch and simhash, using a real index, with
// plain forms of their rules. It reads every corpus below directories.
func methods(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("methods", flag.ContinueOnError)
	most := fs.Int("most", 2500, "documents of each corpus, the first ones")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("methods: give the directory of the corpora")
	}
	sets, err := findSets(fs.Args())
	if err != nil {
		return err
	}
	for _, s := range sets {
		if err := s.load(ctx); err != nil {
			return err
		}
		docs := s.Docs[:min(*most, len(s.Docs))]
		var plain plainly.Collection
		var counter terms.Counter
		reader := terms.NewReader(nil)
		for _, d := range docs {
			plain.Add(d.Text)
			var found []uint64
			reader.Terms([]byte(d.Text), func(more []uint64) { found = append(found, more...) })
			counter.Add(found)
		}
		for _, m := range compared(&plain, counter.Table(minDocs)) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			removed, err := m.compare(len(docs), func(i int) string { return docs[i].Text })
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, m.scheme.Name(), err)
			}
			fmt.Fprintf(out, "%-22s %-48s %d verdicts equal the plain rule's, %d removed\n", s.Name, m.scheme.Name(), len(docs), removed)
		}
		s.Docs = nil
	}
	return nil
}

// minDocs is the minimum number of documents with a term of the table.
const minDocs = 2

// simHashBits is the maximum number of different bits in copies.
const simHashBits = 3

// comparedMethod is a method of the program and its plain rule.
type comparedMethod struct {
	scheme feature.Scheme
	plain  plainly.Rule
}

func compared(c *plainly.Collection, table *terms.Table) []comparedMethod {
	bands, rows := feature.BandsFor(feature.Scheme{Method: "shingles"}.Info().Threshold)
	return []comparedMethod{
		{feature.Scheme{Method: "exact"}, &plainly.Exact{}},
		{feature.Scheme{Method: "shingles"}, &plainly.Shingles{Words: 5, Bands: bands, Rows: rows, Threshold: feature.Scheme{Method: "shingles"}.Info().Threshold}},
		{feature.Scheme{Method: "imatch", Terms: table}, &plainly.IMatch{Collection: c, MinDocs: minDocs, Least: 30, Most: 70}},
		{feature.Scheme{Method: "simhash"}, &plainly.SimHash{Distance: simHashBits}},
		{feature.Scheme{Method: "simhash", Terms: table}, &plainly.SimHash{Distance: simHashBits, Collection: c, MinDocs: minDocs}},
	}
}

// compare decides all texts both ways.
func (m *comparedMethod) compare(n int, text func(int) string) (removed int, err error) {
	dir, err := os.MkdirTemp("", "firstseen-methods-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	x, err := index.Open(context.Background(), dir, index.Options{Scheme: m.scheme, Key: index.KeyAsIs, MemtableKeys: 20_000})
	if err != nil {
		return 0, err
	}
	defer x.Close()
	for i := range n {
		want := m.plain.Decide(text(i))
		got, err := x.See(strconv.Itoa(i), []byte(text(i)))
		if err != nil {
			return removed, err
		}
		of := ""
		if want.Removed {
			of = strconv.Itoa(want.Of)
			removed++
		}
		if got.Kept == want.Removed || got.Exact != want.Exact || got.Of.ID != of || got.Score != want.Score || got.Distance != want.Distance {
			return removed, fmt.Errorf("document %d is %+v, want %+v", i, got, want)
		}
		if i%checkpointEvery == checkpointEvery-1 {
			if err := x.Checkpoint(); err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}
