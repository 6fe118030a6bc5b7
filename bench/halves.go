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

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/dedup/oracle"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

// halves forgets a random half of what was kept of a corpus, compacts, and holds the index
// against one that was only ever given the other half, and is compacted too: its size, and
// the verdicts on all documents of the corpus. All have to be those of rule 15. Some are
// not those of the other index, and it is told why: keys stay closed, or it keeps other
// documents.
func halves(ctx context.Context, args []string, out io.Writer) (err error) {
	fs := flag.NewFlagSet("halves", flag.ContinueOnError)
	seed := fs.Uint64("seed", 1, "seed of the choice")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("halves: give JSONL files")
	}
	dir, err := os.MkdirTemp("", "firstseen-halves-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h := halving{ctx: ctx, out: out, dir: dir, rng: rand.New(rand.NewPCG(*seed, 15))}
	if h.docs, err = readDocuments(ctx, feature.Scheme{}, fs.Args()...); err != nil {
		return err
	}
	if err := h.make(); err != nil {
		return err
	}
	return h.compare()
}

// halving is a measurement: an index of which half was forgotten, and one of the rest.
type halving struct {
	ctx    context.Context
	out    io.Writer
	dir    string
	rng    *rand.Rand
	docs   []document
	byRule *oracle.Oracle // of rule 15, for the first
	rest   *oracle.Oracle // of the other half, whatever the second keeps of it
	checks
}

var halvingRules = dedup.Rules{Threshold: dedup.DefaultThreshold}

// make makes both.
func (h *halving) make() error {
	h.byRule, h.rest = oracle.New(halvingRules), oracle.New(halvingRules)
	kept, nums, err := h.index("forgotten", h.docs)
	if err != nil {
		return err
	}
	var rest []document
	var gone []uint32
	for i := range h.docs {
		h.byRule.Decide(h.docs[i].id, &h.docs[i].set)
	}
	for i, doc := range kept {
		if h.rng.IntN(2) == 0 {
			gone = append(gone, nums[i])
			continue
		}
		rest = append(rest, doc)
		h.rest.Decide(doc.id, &doc.set)
	}
	for _, num := range gone {
		h.byRule.Forget(int(num))
	}
	h.byRule.Compact()
	forgotten, err := h.compact("forgotten", gone)
	if err != nil {
		return err
	}
	again, _, err := h.index("fresh", rest)
	if err != nil {
		return err
	}
	fresh, err := h.compact("fresh", nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.out, "%d documents, %d kept, %d of them forgotten; of the other %d an index of their own keeps %d\n",
		len(h.docs), len(kept), len(gone), len(rest), len(again))
	mb := func(s index.TableStats) float64 { return float64(s.Bytes) / 1e6 }
	more := 100 * (mb(forgotten.After)/mb(fresh.After) - 1)
	h.expect(more < 10 && more > -10, "size within 10%", "%+.1f%%: %.2f MB, and %.2f of its own; before compacting %.2f and %.2f",
		more, mb(forgotten.After), mb(fresh.After), mb(forgotten.Before), mb(fresh.Before))
	return nil
}

// compact forgets documents of an index, and compacts it.
func (h *halving) compact(name string, gone []uint32) (c index.Compacted, err error) {
	e, err := index.Edit(filepath.Join(h.dir, name))
	if err != nil {
		return c, err
	}
	if _, err = e.Forget(gone); err == nil {
		err = e.Save()
	}
	if err == nil {
		c, err = e.Compact(h.ctx)
	}
	return c, errors.Join(err, e.Close())
}

// index makes an index of documents, and returns those that it keeps, with their numbers.
func (h *halving) index(name string, docs []document) (kept []document, nums []uint32, err error) {
	x, err := index.Open(filepath.Join(h.dir, name), index.Options{Key: index.KeyAsIs})
	if err != nil {
		return nil, nil, err
	}
	num := uint32(0)
	for i := range docs {
		if err := h.ctx.Err(); err != nil {
			return nil, nil, errors.Join(err, x.Close())
		}
		r, err := x.Decide(dedup.Document{ID: docs[i].id, Sketch: &docs[i].set})
		if err == nil {
			err = x.Answered(int64(docs[i].set.Units))
		}
		if err != nil {
			return nil, nil, errors.Join(err, x.Close())
		}
		if r.Kept || r.Counted {
			num++
		}
		if r.Kept {
			kept, nums = append(kept, docs[i]), append(nums, num)
		}
	}
	return kept, nums, errors.Join(x.Finish(nil), x.Close())
}

// compare asks both about all documents.
func (h *halving) compare() (err error) {
	forgotten, closeFirst, err := h.asker("forgotten")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFirst()) }()
	fresh, closeSecond, err := h.asker("fresh")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSecond()) }()
	var byRule, closed, differ, more, fewer int
	for i := range h.docs {
		doc := &h.docs[i]
		got, err := forgotten.Check(doc.id, &doc.set)
		if err != nil {
			return err
		}
		if want := h.byRule.Check(doc.id, &doc.set); !sameResult(&want, &got) {
			byRule++
		}
		want, err := fresh.Check(doc.id, &doc.set)
		if err != nil {
			return err
		}
		if sameVerdict(&want, &got) {
			continue
		}
		differ++
		if rest := h.rest.Check(doc.id, &doc.set); !sameVerdict(&rest, &got) {
			closed++
		}
		switch {
		case want.Kept && !got.Kept:
			more++
		case got.Kept && !want.Kept:
			fewer++
		}
	}
	h.expect(byRule == 0, "verdicts are those of rule 15", "%d of %d are not", byRule, len(h.docs))
	h.checks.write(h.out)
	fmt.Fprintf(h.out, "     %d of %d differ from those of the other index, %d of them for keys that stay closed; %d documents more are removed, and %d fewer\n",
		differ, len(h.docs), closed, more, fewer)
	return h.failed()
}

// sameVerdict says that two verdicts, of indexes that number documents otherwise, are the
// same and name the same document.
func sameVerdict(a, b *dedup.Result) bool { return a.Verdict == b.Verdict && a.Of.ID == b.Of.ID }

// asker opens an index for questions.
func (h *halving) asker(name string) (*dedup.Deduper, func() error, error) {
	r, err := index.OpenReader(filepath.Join(h.dir, name), nil)
	if err != nil {
		return nil, nil, err
	}
	d, err := r.Deduper(halvingRules)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return d, r.Close, nil
}
