package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
	"github.com/firstseen/firstseen/internal/report/derive"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// choosing is a run with --prefer or --remove-within. It decides as any run, into a temporary report.
// Then it reads the inputs for the values of the policy, and once more to write the outputs.
type choosing struct {
	*task
	decided string   // the temporary report
	removed []uint32 // of each removed document its witness, 0 for none; the highest bit: it only counts
	copied  []uint32 // the witnesses, ascending
	plan    *report.Survivors
	valued  bool // a document had the field of --prefer
	kept    int64
	out     *output.Writer // nil if kept records are not wanted
	lines   *output.Writer // likewise the report
	buf     []byte
}

const onlyCounts = 1 << 31

// choose runs with --prefer or --remove-within.
func (t *task) choose(cmd *cobra.Command) (err error) {
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return fmt.Errorf("making a temporary report: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := &choosing{task: t, decided: filepath.Join(dir, "report.jsonl"), plan: report.NewSurvivors()}
	bad, err := c.decide(cmd)
	if err != nil {
		return err
	}
	if err := c.offer(cmd.Context()); err != nil {
		return err
	}
	if err := c.write(cmd); err != nil {
		return err
	}
	return errors.Join(bad, c.tellChoice(cmd))
}

// decide is the run. bad is the error about bad records, which is none of the run.
func (c *choosing) decide(cmd *cobra.Command) (bad, err error) {
	t, out, reported := c.task, c.Out, c.Report
	t.watch = func(r *dedup.Result) {
		if !r.Kept {
			of := r.Of.Num
			if r.Counted {
				of |= onlyCounts
			}
			c.removed = append(c.removed, of)
		}
	}
	t.Out, t.Report = "", c.decided
	err = t.run(cmd)
	t.Out, t.Report, t.watch = out, reported, nil
	if !t.whole || errors.Is(err, index.ErrFull) {
		return nil, err
	}
	for _, of := range c.removed {
		if of &^= onlyCounts; of != 0 {
			c.copied = append(c.copied, of)
		}
	}
	slices.Sort(c.copied)
	c.copied = slices.Compact(c.copied)
	return err, nil
}

// numbering numbers the documents as the run did.
type numbering struct {
	*choosing
	num, removals uint32
}

var errOtherRun = fmt.Errorf("%w", derive.ErrOther)

// next returns the component of the next document, 0 if it is alone.
func (r *numbering) next(kept bool) (uint32, error) {
	if !kept {
		if int(r.removals) == len(r.removed) {
			return 0, errOtherRun
		}
		of := r.removed[r.removals]
		r.removals++
		if of&onlyCounts != 0 {
			r.num++
		}
		return of &^ onlyCounts, nil
	}
	r.num++
	if _, copied := slices.BinarySearch(r.copied, r.num); copied {
		return r.num, nil
	}
	return 0, nil
}

// each calls f for every record, in order, with its line and its component. Other records than
// documents have none.
func (c *choosing) each(ctx context.Context, f func(file string, doc *corpus.Document, line *lines.Line, component uint32) error) error {
	report, err := lines.Open([]string{c.decided}, nil)
	if err != nil {
		return err
	}
	file, r := "", numbering{choosing: c}
	begin := func(input int) error {
		file = c.Inputs[input].Name
		return nil
	}
	return derive.Each(ctx, c.documents(), len(c.Inputs), report, begin, func(doc *corpus.Document, line *lines.Line) error {
		if doc.Bad != nil || doc.Empty || doc.Other {
			return f(file, doc, nil, 0)
		}
		component, err := r.next(line == nil || line.Kept)
		if err != nil {
			return err
		}
		return f(file, doc, line, component)
	})
}

// offer reads the values of the policy.
func (c *choosing) offer(ctx context.Context) error {
	when, rank, batch := c.policy.needs()
	times, err := c.values(ctx, "", when)
	if err != nil {
		return err
	}
	defer times.stop()
	ranks, err := c.values(ctx, rank, "")
	if err != nil {
		return err
	}
	defer ranks.stop()
	batches, err := c.values(ctx, batch, "")
	if err != nil {
		return err
	}
	defer batches.stop()
	err = c.each(ctx, func(file string, doc *corpus.Document, line *lines.Line, component uint32) error {
		if component == 0 {
			return nil
		}
		if line != nil && !line.Kept && (line.Of == nil || *line.Of != c.plan.First(component)) {
			return errOtherRun
		}
		made, err := times.at(file, doc.At)
		if err != nil {
			return err
		}
		value, err := ranks.at(file, doc.At)
		if err != nil {
			return err
		}
		named, err := batches.at(file, doc.At)
		if err != nil {
			return err
		}
		m := report.Member{
			Group: c.policy.groupOf(file, named.Text), Rank: c.policy.rankOf(file, value.Text, made.Time),
			Survivor: report.Survivor{ID: string(doc.ID), File: file, Line: doc.At},
		}
		c.valued = c.valued || value.Text != nil || !made.Time.IsZero()
		c.plan.Offer(component, m)
		return nil
	})
	if err == nil && c.policy.field != "" && c.policy.field != folderWord && !c.valued && len(c.copied) > 0 {
		return usageError{fmt.Errorf("--prefer %s: no copy has this field", c.policy.field)}
	}
	return err
}

// fieldValues reads the inputs beside another reading of them, for a field.
type fieldValues struct {
	next func() (placed, error, bool)
	stop func()
}

type placed struct {
	file string
	doc  *corpus.Document
}

// values reads the inputs with another field as the text, or the time. Without a field it reads
// nothing.
func (c *choosing) values(ctx context.Context, text, when string) (*fieldValues, error) {
	if text == "" && when == "" {
		return &fieldValues{stop: func() {}}, nil
	}
	g, err := c.reading(text, when)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(func(yield func(placed, error) bool) {
		source := g.documents()
		defer source.Close() // only read
		errStopped := errors.New("")
		err := corpus.EachBlock(ctx, source, func(b *corpus.Block, parser corpus.Parser) error {
			for doc := range parser.Parse(b) {
				if !yield(placed{b.File, doc}, nil) {
					return errStopped
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(placed{}, err)
		}
	})
	return &fieldValues{next, stop}, nil
}

// at returns the document at a place, behind that of the call before. One without the field has no
// text.
func (v *fieldValues) at(file string, place corpus.Place) (*corpus.Document, error) {
	if v.next == nil {
		return new(corpus.Document), nil
	}
	for {
		p, err, more := v.next()
		switch {
		case err != nil:
			return nil, err
		case !more:
			return nil, errOtherRun
		case p.file == file && p.doc.At == place:
			return p.doc, nil
		}
	}
}

// write writes the kept records and the report.
func (c *choosing) write(cmd *cobra.Command) error {
	write := func(io.Writer) error { return c.each(cmd.Context(), c.record) }
	if c.Report != "" {
		inner := write
		write = func(io.Writer) error {
			return writeOutput(cmd, file{name: c.Report}, func(w io.Writer) error {
				c.lines = w.(recordWriter).to
				return inner(w)
			})
		}
	}
	if c.Out == "" {
		return write(nil)
	}
	return writeOutput(cmd, file{name: c.Out, around: c.Enclosure, head: c.Head}, func(w io.Writer) error {
		c.out = w.(recordWriter).to
		return write(w)
	})
}

// record writes a record and its line, as the policy has it.
func (c *choosing) record(file string, doc *corpus.Document, line *lines.Line, component uint32) (err error) {
	kept, fate := line == nil || line.Kept, report.Fate{}
	if component != 0 {
		kept, fate = c.plan.Ask(component)
	}
	if doc.Bad != nil || doc.Empty {
		return nil
	}
	if !doc.Other {
		if kept {
			c.kept++
		}
		if err := c.report(file, doc, line, kept, fate); err != nil {
			return err
		}
	}
	if c.out == nil || !doc.Other && kept == c.Others {
		return nil
	}
	return c.found.Keep(c.out, doc.Raw)
}

// report writes the line of a document, if it has one now.
func (c *choosing) report(file string, doc *corpus.Document, line *lines.Line, kept bool, fate report.Fate) (err error) {
	switch {
	case c.lines == nil || line == nil && kept && fate.Copies == 0:
		return nil
	case line == nil:
		now := report.First(string(doc.ID), file, doc.At, doc.Time)
		now.Kept, now.Fate = kept, fate
		c.buf, err = report.AppendJSON(c.buf[:0], &now)
	case line.Kept == kept && fate.Instead == nil && fate.Copies == 0:
		c.buf = append(c.buf[:0], line.Raw...)
	default:
		c.buf, err = report.AppendFate(c.buf[:0], line.Raw, kept, fate)
	}
	if err != nil {
		return err
	}
	c.buf = append(c.buf, '\n')
	return c.lines.WriteRecord(c.buf)
}

// tellChoice writes the summary, with the counts of kept and removed documents as they are now.
func (c *choosing) tellChoice(cmd *cobra.Command) error {
	s := c.watched
	s.Kept, s.Removed = c.kept, s.Documents-c.kept
	file, err := c.openSummary()
	if err != nil {
		return err
	}
	return c.tell(cmd, s, file)
}
