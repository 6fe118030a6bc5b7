// Package lines reads reports: the lines written by firstseen dedup --report, in files compressed
// or not. It ignores unknown fields, so it reads the reports of later versions too.
package lines

import (
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
	"github.com/firstseen/firstseen/internal/report"
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
	stdin  io.Reader
}

// Open finds the files without reading them; "-" is standard input.
func Open(names []string, stdin io.Reader) (*Reports, error) {
	inputs, _, err := input.Expand(names, []string{".jsonl"})
	return &Reports{inputs, stdin}, err
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
		for r, err := range corpus.Records(ctx, source) {
			if err != nil {
				yield(nil, fmt.Errorf("reading the report: %w", err))
				return
			}
			line, err := parse(r.Block.Reject, r.Raw)
			if err != nil {
				err = fmt.Errorf("%s:%v: this is not a line of a report: %w; give a file written by firstseen dedup --report", r.Block.File, r.At, err)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

func parse(reject string, raw []byte) (*Line, error) {
	if reject != "" {
		return nil, errors.New(reject)
	}
	var line struct {
		Line
		Part int64 `json:"part"` // of the place, in the rows of a Parquet report
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return nil, err
	}
	if line.Line.Line.Part == 0 {
		line.Line.Line.Part = line.Part
	}
	return &line.Line, check(&line.Line)
}
