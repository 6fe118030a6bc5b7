package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
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

// reading returns flags to read the inputs with another field as the text, the id or the time.
func (f *options) reading(text, id, when string) (*options, error) {
	g := &options{formats: f.formats, source: f.source}
	g.Inputs, g.formats.accept = f.Inputs, nil
	fields := &g.formats.jsonl.Fields
	fields.Text, fields.ID, fields.Time = cmp.Or(text, fields.Text), cmp.Or(id, fields.ID), cmp.Or(when, fields.Time)
	return g, g.formats.complete(g.source)
}

// choosing is a run with --prefer or --remove-within. It decides like any run, into a temporary
// report. Then it reads the inputs for the values of the policy, and again to write the outputs.
type choosing struct {
	*options
	decided string   // the temporary report
	removed []uint32 // witness of each removed document, 0 for none; onlyCounts is set if it only counts
	copied  []uint32 // all witnesses, ascending
	plan    *report.Survivors
	kept    int64
	out     *output.Writer // nil if kept records are not wanted
	lines   *json.Encoder  // of the report, if that is wanted
}

const onlyCounts = 1 << 31

func (f *options) choose(cmd *cobra.Command) (err error) {
	dir, remove, err := makeTemp("report")
	if err != nil {
		return err
	}
	release, err := index.HoldTemporary(dir)
	defer func() { err = errors.Join(err, release(), remove()) }()
	if err != nil {
		return err
	}
	c := &choosing{options: f, decided: filepath.Join(dir, index.TemporaryReport), plan: report.NewSurvivors()}
	bad, err := c.decide(cmd)
	if err != nil {
		return err
	}
	if err := c.offer(cmd.Context()); err != nil {
		return err
	}
	if len(c.copied) > 0 {
		c.policy.tellUnmet(cmd.ErrOrStderr())
	}
	if err := c.write(cmd); err != nil {
		return err
	}
	s := c.watched
	c.watched, s.Kept, s.Removed = nil, c.kept, s.Documents-c.kept // as they are now
	file, err := c.openSummary()
	if err != nil {
		return errors.Join(bad, err)
	}
	return errors.Join(bad, c.tell(cmd, s, file))
}

// decide runs the job. bad is the error about bad records, which do not fail the run.
func (c *choosing) decide(cmd *cobra.Command) (bad, err error) {
	out, reported := c.Out, c.Report
	c.watched = new(report.Summary)
	c.Each = func(_ string, r *dedup.Result, _ dedup.Counts) error {
		if !r.Kept {
			of := r.Of.Num
			if r.Counted {
				of |= onlyCounts
			}
			c.removed = append(c.removed, of)
		}
		return nil
	}
	c.Out, c.Report = "", c.decided
	err = c.run(cmd)
	c.Out, c.Report = out, reported
	if !c.whole || errors.Is(err, index.ErrFull) {
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

// each calls f for every good record of a source, in order. component is 0 for a document without
// copies, or a record without a document. Documents have the numbers of the run.
func (c *choosing) each(ctx context.Context, source *corpus.Source, f func(r derive.Record, component uint32) error) error {
	report, err := lines.Open([]string{c.decided}, nil)
	if err != nil {
		return err
	}
	number, removed := uint32(0), c.removed
	for r, err := range derive.Records(ctx, source, report) {
		component := uint32(0)
		switch {
		case err != nil:
			return err
		case r.Bad != nil || r.Empty:
			continue
		case r.Other:
		case r.Line == nil || r.Line.Kept:
			number++
			if _, copied := slices.BinarySearch(c.copied, number); copied {
				component = number
			}
		case len(removed) == 0:
			return derive.ErrOther
		default:
			component = removed[0] &^ onlyCounts
			if removed[0]&onlyCounts != 0 {
				number++
			}
			removed = removed[1:]
		}
		if err := f(r, component); err != nil {
			return err
		}
	}
	return nil
}

// offer reads the values of the policy, and offers the copies to the plan.
func (c *choosing) offer(ctx context.Context) error {
	when, rank, batch := c.policy.needs()
	timed, err := c.reading("", "", when)
	if err != nil {
		return err
	}
	rankAt, stop, err := c.values(ctx, rank, c.policy.by == "longest")
	if err != nil {
		return err
	}
	defer stop()
	batchAt, stop, err := c.values(ctx, batch, false)
	if err != nil {
		return err
	}
	defer stop()
	valued, batched := false, false // a document had the field of --prefer, and that of --remove-within
	err = c.each(ctx, timed.documents(), func(r derive.Record, component uint32) error {
		if component == 0 {
			return nil
		}
		if r.Line != nil && !r.Line.Kept && (r.Line.Of == nil || *r.Line.Of != c.plan.First(component)) {
			return derive.ErrOther
		}
		value, err := rankAt(r.Record)
		if err != nil {
			return err
		}
		named, err := batchAt(r.Record)
		if err != nil {
			return err
		}
		file := r.Block.File
		valued = valued || value != nil || when != "" && !r.Time.IsZero()
		batched = batched || named != nil
		c.plan.Offer(component, report.Member{
			Group: c.policy.groupOf(file, named), Rank: c.policy.rankOf(file, value, r.Time),
			Survivor: report.Survivor{ID: string(r.ID), File: file, Line: r.At},
		})
		return nil
	})
	switch {
	case err != nil || len(c.copied) == 0:
		return err
	case when != "" && !valued:
		return usageError{fmt.Errorf("--prefer %s: no copy has a time in this field, such as 2024-01-05T00:00:00Z or Unix seconds", when)}
	case rank != "" && !valued:
		return usageError{fmt.Errorf("--prefer %s: no copy has this field, with a string or a number", rank)}
	case batch != "" && !batched:
		return usageError{fmt.Errorf("--remove-within batch=%s: no copy has this field, with a string or a number", batch)}
	}
	return nil
}

// values reads the inputs again, with another field as the text if long is set, or else as the id,
// which can be a number. at returns this value of a record after that of the last call, or nil
// without a field.
func (c *choosing) values(ctx context.Context, field string, long bool) (at func(of corpus.Record) ([]byte, error), stop func(), err error) {
	if field == "" {
		return func(corpus.Record) ([]byte, error) { return nil, nil }, func() {}, nil
	}
	text, id := "", field
	if long {
		text, id = field, ""
	}
	g, err := c.reading(text, id, "")
	if err != nil {
		return nil, nil, err
	}
	next, stop := iter.Pull2(corpus.Records(ctx, g.documents()))
	return func(of corpus.Record) ([]byte, error) {
		for {
			switch r, err, more := next(); {
			case err != nil:
				return nil, err
			case !more:
				return nil, derive.ErrOther
			case r.Block.File != of.Block.File || r.At != of.At:
			case long:
				return r.Text, nil
			case !bytes.Equal(r.ID, r.Block.Name(r.At)):
				return r.ID, nil
			default:
				return nil, nil
			}
		}
	}, stop, nil
}

func (c *choosing) write(cmd *cobra.Command) error {
	return writeOutput(cmd, file{name: c.Out, around: c.Enclosure, head: c.Head}, func(kept *output.Writer) error {
		return writeOutput(cmd, file{name: c.Report}, func(reported *output.Writer) error {
			c.out, c.lines = kept, newEncoder(reported)
			return c.each(cmd.Context(), c.documents(), c.record)
		})
	})
}

// record writes a record and its line, as decided by the policy.
func (c *choosing) record(r derive.Record, component uint32) (err error) {
	kept, fate := r.Line == nil || r.Line.Kept, report.Fate{}
	if component != 0 {
		kept, fate = c.plan.Ask(component)
	}
	if !r.Other {
		if kept {
			c.kept++
		}
		if err := c.report(r, kept, fate); err != nil {
			return err
		}
	}
	if c.out == nil || !r.Other && kept == c.Others {
		return nil
	}
	return c.found.Keep(c.out, r.Raw)
}

// report writes the line of a document, if it has one now.
func (c *choosing) report(r derive.Record, kept bool, fate report.Fate) error {
	if c.Report == "" || r.Line == nil && kept && fate.Copies == 0 {
		return nil
	}
	now := r.Line
	if now == nil {
		first := report.First(string(r.ID), r.Block.File, r.At, r.Time)
		now = &first
	}
	now.Kept, now.Fate = kept, fate
	return c.lines.Encode(now)
}
