package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// leastGroup is the least number of records decided together. For fewer, waking other goroutines
// takes longer than deciding.
const leastGroup = 8

type decision struct {
	group   dedup.Group // if not the whole block
	which   []int       // the record of each document
	results []result    // by record
	errs    []error
}

// A result is the decision about a record, with the segments of a kept document seen before it.
type result struct {
	*dedup.Result
	seen []int
}

// decided is the output of documents decided together.
type decided struct {
	lines []lines  // by record
	bufs  [][]byte // of lines, by worker
}

func (d *decided) reset(records, workers int) {
	d.lines = slices.Grow(d.lines[:0], records)[:records]
	if len(d.bufs) < workers {
		d.bufs = make([][]byte, workers)
	}
	for i := range d.bufs {
		d.bufs[i] = d.bufs[i][:0]
	}
}

// commitGroup commits the records from at on that can be decided together, at least one, and
// returns their number. A group ends before anything that depends on earlier documents, such as a
// checkpoint. It is written during the next decision.
func (c *committer) commitGroup(b *block, at int, giveBack func(*block)) (n int, err error) {
	n, length := c.fits(b, at)
	alone := n < leastGroup
	if alone {
		n, length = 1, b.records[at].length()
		err = c.decideOne(b, at)
	} else {
		err = c.decide(b, at, n)
	}
	if err != nil {
		return 0, err
	}
	for i := range n {
		rec := &b.records[at+i]
		c.pass(rec)
		if rec.isDocument() {
			if err := c.countDecided(rec, c.decision.results[i].Result); err != nil {
				return 0, err
			}
		}
	}
	if alone {
		err = c.writeNow(b, at, n)
	} else {
		err = c.writeBeside(b, at, n, giveBack)
	}
	if err != nil {
		return n, err
	}
	return n, c.index.Ack(length) // nothing is due yet after a group, see fits
}

func (c *committer) writeNow(b *block, at, n int) error {
	if err := c.beside.Wait(); err != nil {
		return err
	}
	if err := c.writeGroup(b, at, n, c.lines[0].lines); err != nil {
		return err
	}
	rec := &b.records[at+n-1] // a group never has too many, see fits
	if rec.Bad == nil || c.job.MaxBad < 0 || c.tally.Bad <= c.job.MaxBad {
		return nil
	}
	return fmt.Errorf("%w: %d, the last at %s %v: %s", ErrTooManyBad, c.tally.Bad, rec.of.source.Format.Noun(), rec.Bad.At, rec.Bad.Reason)
}

// writeBeside writes a group while the next is decided. The last write of a block gives it back.
// The next decision waits if answers must not wait for the next block, or if the write reads the
// index.
func (c *committer) writeBeside(b *block, at, n int, giveBack func(*block)) error {
	lines, last := c.lines[0].lines, at+n == len(b.records)
	if err := c.beside.Wait(); err != nil {
		return err
	}
	c.beside = new(errgroup.Group)
	c.beside.Go(func() error {
		if last {
			defer giveBack(b)
		}
		return c.writeGroup(b, at, n, lines)
	})
	if last {
		c.left = b
	}
	c.lines[0], c.lines[1] = c.lines[1], c.lines[0]
	if c.job.Pipe || c.job.Replace != nil {
		return c.beside.Wait()
	}
	return nil
}

func (c *committer) writeGroup(b *block, at, n int, lines []lines) error {
	for i := range n {
		rec, l := &b.records[at+i], &lines[i]
		if err := c.record(rec, l); err != nil {
			return err
		}
		if !rec.isDocument() || l.kept {
			continue
		}
		if err := c.replace(rec, l.result); err != nil {
			return err
		}
	}
	return nil
}

// fits returns the number of records that can be decided together, and their length.
func (c *committer) fits(b *block, at int) (n int, length int64) {
	if c.pool.Size == 0 || c.job.Retries || len(b.records)-at < leastGroup {
		return 0, 0
	}
	left, bad := c.index.Budget(), c.tally.Bad
	if left.Documents == 0 { // then not even empty records form a group
		return 0, 0
	}
	for i := range b.records[at:] {
		rec := &b.records[at+i]
		switch {
		case rec.Empty:
			n++
			continue
		case rec.Bad != nil:
			bad++
		case rec.Other:
		default:
			left.Take(len(rec.set.Features)+1+min(len(rec.set.Picks), passages.MaxPicks), len(rec.ID), len(rec.added))
		}
		more := rec.length()
		if rec.isDocument() && !c.index.NoCheckpointDue(rec.added) {
			break
		}
		if left.Bytes -= more; min(left.Keys, left.IDs, left.Documents) < 0 || left.Bytes < 0 || c.job.MaxBad >= 0 && bad > c.job.MaxBad {
			break
		}
		n, length = n+1, length+more
	}
	return n, length
}

func (c *committer) decideOne(b *block, at int) (err error) {
	rec, g, out := &b.records[at], &c.decision, &c.lines[0]
	out.reset(1, 1)
	if !rec.isDocument() {
		return nil
	}
	if c.one, err = c.index.Decide(rec.document()); err != nil {
		return err
	}
	if c.job.Retries {
		if err := Retry(c.index, &c.one, c.job.DropRetries); err != nil {
			return err
		}
	}
	g.results = append(g.results[:0], result{Result: &c.one})
	if out.lines[0], out.bufs[0], err = c.prepare(out.bufs[0], rec, &c.one); err != nil || !c.one.Kept || c.one.Again {
		return err
	}
	for i := range rec.set.Features[:rec.set.Parts()] {
		if c.index.SeenBefore()[i] {
			c.countCommon(rec, &rec.set.Features[i])
		}
	}
	return nil
}

func (c *committer) decide(b *block, at, n int) error {
	g, out := &c.decision, &c.lines[0]
	g.which = g.which[:0]
	for i := range b.records[at : at+n] {
		if b.records[at+i].isDocument() {
			g.which = append(g.which, at+i)
		}
	}
	docs := &b.group
	if n < len(b.records) || len(b.joined) > 0 {
		docs = &g.group
		docs.Reset()
		for _, i := range g.which {
			docs.Add(b.records[i].document())
		}
		docs.Link()
	}
	g.results = append(g.results[:0], make([]result, n)...)
	out.reset(n, c.pool.Size)
	g.errs = append(g.errs[:0], make([]error, c.pool.Size)...)
	err := c.index.DecideAll(docs, c.pool, func(worker, i int, r *dedup.Result, seen []int) {
		rec := g.which[i]
		g.results[rec-at] = result{r, seen}
		var err error
		out.lines[rec-at], out.bufs[worker], err = c.prepare(out.bufs[worker], &b.records[rec], r)
		if g.errs[worker] == nil {
			g.errs[worker] = err
		}
	})
	if err != nil {
		return err
	}
	c.countSeen(b.records[at : at+n])
	return cmp.Or(g.errs...)
}

// countSeen counts the segments of kept documents that were seen before, in parallel.
func (c *committer) countSeen(records []record) {
	g, seen := &c.decision, 0
	for i := range g.results {
		seen += len(g.results[i].seen)
	}
	if seen == 0 {
		return
	}
	c.pool.Run(report.CommonParts, func(_, part int) {
		for i := range g.results {
			for _, at := range g.results[i].seen {
				if f := &records[i].set.Features[at]; report.CommonPart(f.Order) == part {
					c.countCommon(&records[i], f)
				}
			}
		}
	})
}

func (r *record) isDocument() bool { return !r.Empty && r.Bad == nil && !r.Other }

// name returns the id of the document. A caller that keeps it must copy it.
func (r *record) name() string { return unsafe.String(unsafe.SliceData(r.ID), len(r.ID)) }

func (r *record) document() dedup.Document {
	return dedup.Document{ID: r.name(), Sketch: &r.set, Added: r.added, Text: r.Text}
}

// pass counts a record, and moves the run's position past it.
func (c *committer) pass(rec *record) {
	source := &rec.of.source
	if c.at.Input != source.Input {
		c.at.Sum = 0
	}
	if rec.Bad != nil {
		if c.tally.Bad++; c.tally.FirstBad == nil {
			c.tally.FirstBad = report.Reject(rec.Bad)
		}
	}
	sum := c.at.Sum
	if !rec.Empty { // an empty one is not summed up
		c.tally.RecordBytes += rec.length()
		sum = output.AddRecord(sum, rec.sum)
	}
	if rec.isDocument() { // the file, or the file and a place, is not the document's own id
		if place, found := strings.CutPrefix(rec.name(), source.File); found && (place == "" || place[0] == ':') {
			c.tally.Unnamed++
		}
		if rec.Part {
			c.tally.Partial++
		}
		for _, f := range rec.Fields {
			c.tally.CountField(f.Name)
		}
	}
	c.at = Position{Input: source.Input, At: rec.At.Next(), Sum: sum}
}

// length returns the counted size of a record with its end, or 0 for an empty one.
func (r *record) length() int64 {
	if r.Empty {
		return 0
	}
	return int64(len(r.Raw)) + 1
}

// commit commits a block of records. If c.left is b afterwards, the writing calls giveBack;
// otherwise the caller must.
func (c *committer) commit(ctx context.Context, b *block, giveBack func(*block)) error {
	c.stored = b.source.Read
	records := len(b.records) // once the last is written, b belongs to others
	for at := 0; at < records; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.file = b.records[at].of.source.File
		n, err := c.commitGroup(b, at, giveBack)
		if err != nil {
			return err
		}
		at += n
	}
	if live := c.job.Live; live != nil {
		live.Documents.Store(c.tally.Documents)
		live.Removed.Store(c.tally.Removed)
		live.Stored.Store(c.stored)
	}
	return nil
}
