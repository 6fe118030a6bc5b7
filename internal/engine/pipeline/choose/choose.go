// Package choose decides, after a run, which of several copies stays, and writes the outputs of the
// run again: docs/design.md, "Survivors". It reads the inputs once for the values of the policy and
// once for the records.
package choose

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Reading names the fields that a source is to read in place of its own; "" leaves it.
type Reading struct{ Text, ID, Time string }

// Choice is a run with a policy. Each takes the decisions of the run, which writes Report. Then
// Offer reads the values of the policy, and Write the outputs.
type Choice struct {
	Policy *Policy
	Report string // report of the run, in lines of JSON
	// Source returns the inputs of the run, to be read from their beginning.
	Source func(Reading) (*corpus.Source, error)

	removed []uint32 // witness of each removed document, 0 for none; onlyCounts is set if it only counts
	copied  []uint32 // all witnesses, ascending
	plan    *report.Survivors
}

const onlyCounts = 1 << 31

// Each takes the next decision of the run. It is the Each of its job.
func (c *Choice) Each(_ string, r *dedup.Result, _ dedup.Counts) error {
	if !r.Kept {
		of := r.Of.Num
		if r.Counted {
			of |= onlyCounts
		}
		c.removed = append(c.removed, of)
	}
	return nil
}

// each calls f for every good record of a source, in order. component is 0 for a document without
// copies, or a record without a document. Documents have the numbers of the run.
func (c *Choice) each(ctx context.Context, reading Reading, f func(r derive.Record, component uint32) error) error {
	source, err := c.Source(reading)
	if err != nil {
		return err
	}
	report, err := lines.Open([]string{c.Report}, nil)
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

// A FieldError reports that no copy has a value in a field of the policy.
type FieldError struct {
	Field string
	Batch bool // it is the field of batches
	Time  bool // it should have a time
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("no copy has a value in the field %q", e.Field)
}

// Offer reads the values of the policy, and ranks the copies. It reports whether there are any.
func (c *Choice) Offer(ctx context.Context) (copies bool, err error) {
	for _, of := range c.removed {
		if of &^= onlyCounts; of != 0 {
			c.copied = append(c.copied, of)
		}
	}
	slices.Sort(c.copied)
	c.copied, c.plan = slices.Compact(c.copied), report.NewSurvivors()
	when, rank, batch := c.Policy.Fields()
	rankAt, stop, err := c.values(ctx, rank, c.Policy.By == "longest")
	if err != nil {
		return false, err
	}
	defer stop()
	groupAt, stop, err := c.values(ctx, batch, false)
	if err != nil {
		return false, err
	}
	defer stop()
	valued, grouped := false, false // a document had the field of the preference, and that of the groups
	err = c.each(ctx, Reading{Time: when}, func(r derive.Record, component uint32) error {
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
		named, err := groupAt(r.Record)
		if err != nil {
			return err
		}
		file := r.Block.File
		valued = valued || value != nil || when != "" && !r.Time.IsZero()
		grouped = grouped || named != nil
		c.plan.Offer(component, report.Member{
			Group: c.Policy.GroupOf(file, named), Rank: c.Policy.Rank(file, value, r.Time),
			Survivor: report.Survivor{ID: string(r.ID), File: file, Line: r.At},
		})
		return nil
	})
	switch copies = len(c.copied) > 0; {
	case err != nil || !copies:
	case when+rank != "" && !valued:
		err = &FieldError{Field: when + rank, Time: when != ""}
	case batch != "" && !grouped:
		err = &FieldError{Field: batch, Batch: true}
	}
	return copies, err
}

// values reads the inputs again, with another field as the text if long is set, or else as the id,
// which can be a number. at returns this value of a record after that of the last call, or nil
// without a field.
func (c *Choice) values(ctx context.Context, field string, long bool) (at func(of corpus.Record) ([]byte, error), stop func(), err error) {
	if field == "" {
		return func(corpus.Record) ([]byte, error) { return nil, nil }, func() {}, nil
	}
	reading := Reading{ID: field}
	if long {
		reading = Reading{Text: field}
	}
	source, err := c.Source(reading)
	if err != nil {
		return nil, nil, err
	}
	next, stop := iter.Pull2(corpus.Records(ctx, source))
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

// Write writes the kept records, as format keeps them, and the report as the policy decides. Each
// output may be nil. It returns the number of kept documents.
func (c *Choice) Write(ctx context.Context, format corpus.Format, out, reported *output.Writer) (kept int64, err error) {
	lines := json.NewEncoder(reported)
	lines.SetEscapeHTML(false)
	err = c.each(ctx, Reading{}, func(r derive.Record, component uint32) error {
		keep, fate := r.Line == nil || r.Line.Kept, report.Fate{}
		if component != 0 {
			keep, fate = c.plan.Ask(component)
		}
		if !r.Other {
			if keep {
				kept++
			}
			if line := lineOf(r, keep, fate); line != nil && reported != nil {
				if err := lines.Encode(line); err != nil {
					return err
				}
			}
		}
		if out == nil || !r.Other && !keep {
			return nil
		}
		return format.Keep(out, r.Raw)
	})
	return kept, err
}

// lineOf returns the line of a document, or nil if it has none now.
func lineOf(r derive.Record, kept bool, fate report.Fate) *lines.Line {
	if r.Line == nil && kept && fate.Copies == 0 {
		return nil
	}
	now := r.Line
	if now == nil {
		first := report.First(string(r.ID), r.Block.File, r.At, r.Time)
		now = &first
	}
	now.Kept, now.Fate = kept, fate
	return now
}

// Folder stands for the folder of a document's input, in place of a field.
const Folder = "folder"

// Policy says which copy stays. The zero value is none. Prefer and Within set it.
type Policy struct {
	Field string // field with the preference; Folder for the folder; "" for none
	By    string // newest, oldest or longest; "" if the order of values counts
	// A copy stays in each folder, or for each value of the field Batch. Without both, one of all stays.
	InFolder bool
	Batch    string

	order []string // values, the preferred first; nil if By is set
	met   []bool   // for each of order, whether a copy has it
}

// Given reports whether there is a policy.
func (p *Policy) Given() bool { return p.Field != "" || p.InFolder || p.Batch != "" }

// Prefer sets the preference: FIELD=VALUE,VALUE or FIELD=newest, oldest or longest.
func (p *Policy) Prefer(text string) error {
	field, values, found := strings.Cut(text, "=")
	if !found || field == "" || values == "" {
		return errors.New("want FIELD=VALUE,VALUE, or FIELD=newest, oldest or longest")
	}
	p.Field = field
	if slices.Contains([]string{"newest", "oldest", "longest"}, values) {
		p.By = values
		return nil
	}
	p.order = strings.Split(values, ",")
	p.met = make([]bool, len(p.order))
	return nil
}

// Within sets the group in which copies are removed: folder, or batch=FIELD.
func (p *Policy) Within(text string) error {
	field, batch := strings.CutPrefix(text, "batch=")
	p.InFolder, p.Batch = text == Folder, ""
	if batch {
		p.Batch = field
	}
	if !p.InFolder && p.Batch == "" {
		return errors.New("want folder, or batch=FIELD")
	}
	return nil
}

// Fields returns the fields to read for the policy: one of a time, and two of texts. "" is none.
func (p *Policy) Fields() (when, rank, batch string) {
	switch {
	case p.By == "newest" || p.By == "oldest":
		when = p.Field
	case p.Field != Folder:
		rank = p.Field
	}
	return when, rank, p.Batch
}

// Rank returns the rank of a document; the lowest is preferred. Missing values are nil and zero.
func (p *Policy) Rank(file string, value []byte, made time.Time) int64 {
	switch {
	case p.Field == Folder:
		dir := filepath.Dir(file) // named by its path as in the report, or by its last element
		return p.place(func(name string) bool { return filepath.Clean(name) == dir || name == filepath.Base(dir) })
	case p.By == "newest" && !made.IsZero():
		return -made.Unix()
	case p.By == "oldest" && !made.IsZero():
		return made.Unix()
	case p.By == "longest" && value != nil:
		return -int64(len(value))
	case p.By == "" && p.Field != "" && value != nil:
		return p.place(func(name string) bool { return name == string(value) })
	}
	return report.LastRank
}

func (p *Policy) place(is func(string) bool) int64 {
	i := slices.IndexFunc(p.order, is)
	if i < 0 {
		return report.LastRank
	}
	p.met[i] = true
	return int64(i)
}

// Unmet returns the preferred values that no ranked document has had: they may be mistyped.
func (p *Policy) Unmet() (values []string) {
	for i, value := range p.order {
		if !p.met[i] {
			values = append(values, value)
		}
	}
	return values
}

// GroupOf returns the group of a document, or "" if all are one group.
func (p *Policy) GroupOf(file string, value []byte) string {
	if p.InFolder {
		return filepath.Dir(file)
	}
	return string(value)
}
