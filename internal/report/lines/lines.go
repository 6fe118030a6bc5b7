// Package lines reads reports: the lines written by firstseen dedup --report, in files compressed
// or not. It passes over the fields of a line that it does not know, so that it reads the reports
// of later versions too.
package lines

import (
	"bytes"
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

// Verdicts that a line can have.
var verdicts = []string{"unique", "duplicate", "mosaic", "related", "consumed"}

// check refuses JSON other than a line of a report.
func check(l *Line) error {
	switch {
	case l.Verdict == "":
		return errors.New("it has no verdict")
	case !slices.Contains(verdicts, l.Verdict):
		return fmt.Errorf("it has the verdict %q, which is not known", l.Verdict)
	case !(l.Score >= 0 && l.Score <= 1 && l.Contained >= 0 && l.Contained <= 1):
		return errors.New("it has a share that is not from 0 to 1")
	}
	return nil
}

// Reports are files to be read, one after the other, as one report.
type Reports struct {
	Inputs []input.Input
	stdin  io.Reader
}

// Open looks for the files; "-" is standard input. Nothing is read.
func Open(names []string, stdin io.Reader) (*Reports, error) {
	inputs, _, err := input.Expand(names, []string{".jsonl"})
	return &Reports{inputs, stdin}, err
}

// Once reports whether they can be read one time only.
func (r *Reports) Once() bool {
	return slices.ContainsFunc(r.Inputs, func(in input.Input) bool { return in.Path == input.Stdin || in.Size < 0 })
}

// Each calls f for every line, in order. A line is valid until f returns; its strings stay. Memory
// does not grow with the report. A line that belongs to no report is an error naming file and line.
func (r *Reports) Each(ctx context.Context, f func(*Line) error) error {
	for line, err := range r.All(ctx) {
		if err != nil {
			return err
		}
		if err := f(line); err != nil {
			return err
		}
	}
	return nil
}

// All returns the lines in the order of Each. An error is the last.
func (r *Reports) All(ctx context.Context) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		format := jsonl.Format{Fields: jsonl.Fields{Text: "id", ID: "id"}}
		source := corpus.NewSource(r.Inputs, format, corpus.SourceConfig{Stdin: r.stdin})
		defer source.Close() // only read
		enough := errors.New("enough")
		err := corpus.EachBlock(ctx, source, func(b *corpus.Block, _ corpus.Parser) error {
			if ctx.Err() == nil && !yieldOf(b, format.Cutter(), yield) {
				return enough
			}
			return ctx.Err()
		})
		if err != nil && !errors.Is(err, enough) {
			yield(nil, fmt.Errorf("reading the report: %w", err))
		}
	}
}

func yieldOf(b *corpus.Block, cutter corpus.Cutter, yield func(*Line, error) bool) bool {
	at := b.First
	for record := range bytes.Lines(b.Data) {
		raw, empty := b.Strip(cutter, record)
		if !empty {
			line, err := parse(b.Reject, raw)
			if err == nil {
				line.Raw = raw
			} else {
				err = fmt.Errorf("%s:%v: this is no line of a report: %w; give what firstseen dedup --report has written", b.File, at, err)
			}
			if !yield(line, err) || err != nil {
				return false
			}
		}
		at = at.Next()
	}
	return true
}

func parse(reject string, raw []byte) (*Line, error) {
	if reject != "" {
		return nil, errors.New(reject)
	}
	var line struct {
		Line
		Part int64 `json:"part"` // of the place, in the rows of a report that was Parquet
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return nil, err
	}
	if line.Line.Line.Part == 0 {
		line.Line.Line.Part = line.Part
	}
	return &line.Line, check(&line.Line)
}
