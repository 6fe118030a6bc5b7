// Package lines reads reports: the lines written by firstseen dedup --report, in files compressed
// or not. It ignores unknown fields, so it reads the reports of later versions too.
package lines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Line is a line of a report.
type Line = report.Reported

// verdicts lists the verdicts that a line can have.
var verdicts = []string{"unique", "duplicate", "mosaic", "related", "consumed"}

// check refuses JSON other than a line of a report.
func check(l *Line) error {
	switch {
	case l.Verdict == "":
		return errors.New("it has no verdict")
	case !slices.Contains(verdicts, l.Verdict):
		return fmt.Errorf("it has the unknown verdict %q", l.Verdict)
	case !(l.Score >= 0 && l.Score <= 1 && l.Contained >= 0 && l.Contained <= 1):
		return errors.New("it has a share outside 0 to 1")
	}
	return nil
}

// Reports holds files that are read one after the other, as one report.
type Reports struct {
	Inputs []input.Input
	// End has the counts of reports of shards, after the last line. It is nil without such counts.
	End   *report.End
	stdin io.Reader
}

// Open finds the files without reading them; "-" is standard input.
func Open(names []string, stdin io.Reader) (*Reports, error) {
	inputs, _, err := input.Expand(names, []string{".jsonl"})
	return &Reports{Inputs: inputs, stdin: stdin}, err
}

// Once reports whether the files can be read only once.
func (r *Reports) Once() bool {
	return slices.ContainsFunc(r.Inputs, func(in input.Input) bool { return in.Path == input.Stdin || in.Size < 0 })
}

// All yields the lines in order. A line is valid until the next one; its strings stay valid. Memory
// does not grow with the report. An error comes last, and names the place of a wrong line.
func (r *Reports) All(ctx context.Context) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		format := jsonl.Format{Fields: jsonl.Fields{Text: "id", ID: "id"}}
		source := corpus.NewSource(r.Inputs, format, corpus.SourceConfig{Stdin: r.stdin})
		r.End = nil
		own := lineCount{file: -1}
		for one, err := range corpus.Records(ctx, source) {
			if err != nil {
				yield(nil, fmt.Errorf("reading the report: %w", err))
				return
			}
			line, end, err := parse(one.Block.Reject, one.Raw)
			if err != nil {
				err = fmt.Errorf("%s:%v: this is not a line of a report: %w; give a file written by firstseen dedup --report", one.Block.File, one.At, err)
			} else if err = own.add(one.Block, line, end); err == nil && end != nil {
				r.End = cmp.Or(r.End, new(report.End))
				r.End.Add(*end)
				continue
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
		if own.open {
			yield(nil, own.cutOff())
		}
	}
}

// lineCount counts the lines of a file. Those of a shard must be followed by their count.
type lineCount struct {
	file  int // index of the file
	name  string
	lines int64
	open  bool // the file needs a count
}

func (c *lineCount) add(b *corpus.Block, line *Line, end *report.End) error {
	if b.Input != c.file {
		if c.open {
			return c.cutOff()
		}
		*c = lineCount{file: b.Input, name: b.File}
	}
	switch {
	case end == nil:
		c.lines++
		c.open = c.open || line.Shard > 0
	case end.Lines != c.lines:
		return c.cutOff()
	default:
		c.lines, c.open = 0, false
	}
	return nil
}

func (c *lineCount) cutOff() error {
	return fmt.Errorf("the report %s is not whole: %d lines came, and no line with this count after them; copy it again, or run firstseen bulk decide again", c.name, c.lines)
}

// parse reads a line of a report, or the counts at the end of one.
func parse(reject string, raw []byte) (*Line, *report.End, error) {
	if reject != "" {
		return nil, nil, errors.New(reject)
	}
	var line struct {
		Line
		Part int64       `json:"part"` // of the place, in the rows of a Parquet report
		End  *report.End `json:"end"`
	}
	if err := json.Unmarshal(raw, &line); err != nil || line.End != nil {
		return nil, line.End, err
	}
	if line.Line.Line.Part == 0 {
		line.Line.Line.Part = line.Part
	}
	return &line.Line, nil, check(&line.Line)
}
