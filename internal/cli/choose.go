package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
	"github.com/firstseen/firstseen/internal/report/derive"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// folderWord stands for the folder of a document's input in --prefer and --remove-within.
const folderWord = "folder"

// policy says which of several copies stays: rule 18.
type policy struct {
	field  string   // of --prefer; folderWord for the folder; "" without
	order  []string // values, the preferred first; nil if by is set
	met    []bool   // of these, the values of a copy
	by     string   // newest, oldest or longest
	folder bool     // a survivor in each folder
	batch  string   // or for each value of this field
}

func (p *policy) register(fs *pflag.FlagSet) {
	prefer := func(text string) error {
		field, values, found := strings.Cut(text, "=")
		if !found || field == "" || values == "" {
			return want("FIELD=VALUE,VALUE, or FIELD=newest, oldest or longest")
		}
		p.field = field
		if slices.Contains([]string{"newest", "oldest", "longest"}, values) {
			p.by = values
		} else {
			p.order = strings.Split(values, ",")
		}
		return nil
	}
	within := func(text string) error {
		field, found := strings.CutPrefix(text, "batch=")
		p.folder, p.batch = text == folderWord, field
		if p.folder {
			p.batch = ""
		} else if !found || field == "" {
			return want("folder, or batch=FIELD")
		}
		return nil
	}
	readBy(fs, prefer, "prefer", "", "which of several copies stays, read after the run: FIELD=curated,crawled (the first of these values), folder=a,b, or FIELD=newest, oldest or longest; copies of one rank: the earliest")
	readBy(fs, within, "remove-within", "", "remove copies inside of a folder or a batch=FIELD (the documents of one value); a copy of another one is kept and marked in the report")
}

func (p *policy) given() bool { return p.field != "" || p.folder || p.batch != "" }

// needs returns the fields that are read for the policy: of a time, and of texts. "" is none.
func (p *policy) needs() (when, rank, batch string) {
	switch {
	case p.by == "newest" || p.by == "oldest":
		when = p.field
	case p.field != folderWord:
		rank = p.field
	}
	return when, rank, p.batch
}

// checkPolicy refuses what a choice after the run cannot keep.
func (f *options) checkPolicy() error {
	if !f.policy.given() {
		return nil
	}
	derives, _ := f.derived.reads()
	return meaning([]conflict{
		{f.policy.field == folderWord && f.policy.by != "", "--prefer folder=" + f.policy.by + ": want the names of folders, the preferred first"},
		{f.index != "" || len(f.against) > 0, "--prefer and --remove-within choose among the documents of one run: leave out --index and --against, whose documents stand in outputs of other runs"},
		{f.filterOnly, "--prefer and --remove-within need the side table, and --filter-only has none"},
		{f.outDir != "" || f.Annotate, "--prefer and --remove-within write one --out FILE of kept records: leave out --out-dir and --annotate"},
		{f.sameID == "replace", "--same-id replace and --prefer both choose which document stays: give one"},
		{f.Scheme.Passages > 0, "--passages are those of the documents kept first: leave out --prefer and --remove-within"},
		{isTable(f.Report), "--prefer and --remove-within write a report in lines of JSON: give --report another name"},
		{derives, "with --prefer and --remove-within firstseen report makes clusters, pairs and lists afterwards"},
		{f.formats.warc.Revisit.Write, "--format warc:revisit stands for a document that --prefer may remove: leave one of them out"},
	})
}

// checkPolicyInputs refuses inputs that cannot be read again, or that have no such field.
func (f *options) checkPolicyInputs() error {
	if !f.policy.given() {
		return nil
	}
	if f.ReadsPipe() {
		return usageError{errors.New("--prefer and --remove-within read the inputs again, and one of them is a pipe: give files")}
	}
	when, rank, batch := f.policy.needs()
	missing := cmp.Or(when, rank, batch)
	switch f.found.(type) {
	case nil, jsonl.Format, jsonarray.Format, csv.Format:
		missing = ""
	case parquet.Format:
		missing = when
	case warc.Format:
		missing = cmp.Or(rank, batch)
	}
	if missing == "" {
		return derive.CheckNames(f.Inputs)
	}
	return usageError{fmt.Errorf("documents of %s have no field %s that is read: --prefer folder=A,B and --remove-within folder need none", f.found.Name(), cmp.Or(when, rank, batch))}
}

// rankOf is the rank of a document, the least preferred first. Values are nil and zero if they are
// missing.
func (p *policy) rankOf(file string, value []byte, made time.Time) int64 {
	switch {
	case p.field == folderWord:
		dir := filepath.Dir(file) // by its path as the report has it, or by its last name
		return p.rankIn(func(name string) bool { return filepath.Clean(name) == dir || name == filepath.Base(dir) })
	case p.by == "newest" && !made.IsZero():
		return -made.Unix()
	case p.by == "oldest" && !made.IsZero():
		return made.Unix()
	case p.by == "longest" && value != nil:
		return -int64(len(value))
	case p.by == "" && p.field != "" && value != nil:
		return p.rankIn(func(name string) bool { return name == string(value) })
	}
	return report.LastRank
}

func (p *policy) rankIn(is func(string) bool) int64 {
	i := slices.IndexFunc(p.order, is)
	if i < 0 {
		return report.LastRank
	}
	if p.met == nil {
		p.met = make([]bool, len(p.order))
	}
	p.met[i] = true
	return int64(i)
}

// tellUnmet names the values of --prefer that no copy has: they may be mistyped.
func (p *policy) tellUnmet(stderr io.Writer) {
	for i, value := range p.order {
		if p.met == nil || !p.met[i] {
			fmt.Fprintf(stderr, "firstseen: --prefer: no copy has the %s %q\n", p.field, value)
		}
	}
}

// groupOf is the group of a document, "" if all are one.
func (p *policy) groupOf(file string, batch []byte) string {
	switch {
	case p.folder:
		return filepath.Dir(file)
	case p.batch != "":
		return string(batch)
	}
	return ""
}

// reading returns the flags for reading the inputs with another field as the text, or the time.
func (f *options) reading(text, when string) (*options, error) {
	g := &options{formats: f.formats, source: f.source}
	g.Inputs, g.formats.accept = f.Inputs, nil
	fields := &g.formats.jsonl.Fields
	fields.Text, fields.Time = cmp.Or(text, fields.Text), cmp.Or(when, fields.Time)
	return g, g.formats.complete(g.source)
}

// choosing is a run with --prefer or --remove-within. It decides as any run, into a temporary report.
// Then it reads the inputs for the values of the policy, and once more to write the outputs.
type choosing struct {
	*options
	decided string   // the temporary report
	removed []uint32 // of each removed document its witness, 0 for none; the highest bit: it only counts
	copied  []uint32 // the witnesses, ascending
	plan    *report.Survivors
	kept    int64
	out     *output.Writer // nil if kept records are not wanted
	lines   *output.Writer // likewise the report
	buf     []byte
}

const onlyCounts = 1 << 31

func (f *options) choose(cmd *cobra.Command) (err error) {
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return fmt.Errorf("making a temporary report: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := &choosing{options: f, decided: filepath.Join(dir, "report.jsonl"), plan: report.NewSurvivors()}
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

// decide is the run. bad is the error about bad records, which is none of the run.
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

// each calls f for every good record of a source, in order, with its component, 0 if it is alone or no
// document. It numbers the documents as the run did.
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

// offer reads the values of the policy.
func (c *choosing) offer(ctx context.Context) error {
	when, rank, batch := c.policy.needs()
	timed, err := c.reading("", when)
	if err != nil {
		return err
	}
	rankAt, stop, err := c.values(ctx, rank)
	if err != nil {
		return err
	}
	defer stop()
	batchAt, stop, err := c.values(ctx, batch)
	if err != nil {
		return err
	}
	defer stop()
	valued := false // a document had the field of --prefer
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
		c.plan.Offer(component, report.Member{
			Group: c.policy.groupOf(file, named), Rank: c.policy.rankOf(file, value, r.Time),
			Survivor: report.Survivor{ID: string(r.ID), File: file, Line: r.At},
		})
		return nil
	})
	if err == nil && c.policy.field != "" && c.policy.field != folderWord && !valued && len(c.copied) > 0 {
		wanted := "this field"
		if when != "" {
			wanted = "a time in this field, such as 2024-01-05T00:00:00Z or Unix seconds"
		}
		return usageError{fmt.Errorf("--prefer %s: no copy has %s", c.policy.field, wanted)}
	}
	return err
}

// values reads the inputs beside another reading of them, with another field as the text. at returns
// the text of a record of that, behind the one of the call before; nil without a field.
func (c *choosing) values(ctx context.Context, field string) (at func(of corpus.Record) ([]byte, error), stop func(), err error) {
	if field == "" {
		return func(corpus.Record) ([]byte, error) { return nil, nil }, func() {}, nil
	}
	g, err := c.reading(field, "")
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
			case r.Block.File == of.Block.File && r.At == of.At:
				return r.Text, nil
			}
		}
	}, stop, nil
}

func (c *choosing) write(cmd *cobra.Command) error {
	return writeOutput(cmd, file{name: c.Out, around: c.Enclosure, head: c.Head}, func(kept io.Writer) error {
		return writeOutput(cmd, file{name: c.Report}, func(reported io.Writer) error {
			c.out, c.lines = kept.(recordWriter).to, reported.(recordWriter).to
			return c.each(cmd.Context(), c.documents(), c.record)
		})
	})
}

// record writes a record and its line, as the policy has it.
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
func (c *choosing) report(r derive.Record, kept bool, fate report.Fate) (err error) {
	if c.lines == nil || r.Line == nil && kept && fate.Copies == 0 {
		return nil
	}
	now := r.Line
	if now == nil {
		first := report.First(string(r.ID), r.Block.File, r.At, r.Time)
		now = &first
	}
	now.Kept, now.Fate = kept, fate
	if c.buf, err = report.AppendJSON(c.buf[:0], now); err != nil {
		return err
	}
	c.buf = append(c.buf, '\n')
	return c.lines.WriteRecord(c.buf)
}
