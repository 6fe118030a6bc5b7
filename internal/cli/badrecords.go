package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/advice"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/report"
)

// maxNamed is the most bad records named one by one: a wrong field makes all records bad.
const maxNamed = 10

type bads struct {
	n     int64
	all   int64            // all records, bad ones included
	noun  string           // name of a record
	first *report.Rejected // nil if a run of an earlier version met it
	named io.Writer        // receives the first bad records; nil for none
	run   bool             // the command is a run, which has --rejects
	fate  string           // of bad records; "" if they are not kept
}

// check counts a record that was read without err, and reports whether it is good. It fails beyond
// --limit bad.
func (b *bads) check(r corpus.Record, err error, most int64) (good bool, _ error) {
	if err != nil {
		return false, err
	}
	b.noun = r.Block.Format.Noun()
	b.all++
	if r.Bad == nil {
		return true, nil
	}
	b.add(r.Bad)
	return false, b.over(most)
}

func (b *bads) add(bad *corpus.BadRecord) {
	if b.n++; b.first == nil {
		b.first = report.Reject(bad)
	}
	switch {
	case b.named == nil || b.n > maxNamed:
	case b.n == maxNamed:
		fmt.Fprintf(b.named, "firstseen: %v; further ones are only counted\n", bad)
	default:
		fmt.Fprintln(b.named, "firstseen:", bad)
	}
}

// over returns an error if more records are bad than most. A negative most allows any number.
func (b *bads) over(most int64) error {
	if most < 0 || b.n <= most {
		return nil
	}
	return fmt.Errorf("%w: %d, the first %s:%v: %s", pipeline.ErrTooManyBad, b.n, b.first.File, b.first.Line, b.first.Reason)
}

// end returns the error of a command that came to its end, or nil without bad records.
func (b *bads) end() error {
	if b.n == 0 {
		return nil
	}
	err := fmt.Errorf("%w and %s: %d of %d %ss", errBadRecords, cmp.Or(b.fate, "are not kept"), b.n, b.all, b.noun)
	if b.first == nil {
		return err
	}
	first := b.first
	err = fmt.Errorf("%w, the first %s:%v: %s", err, first.File, first.Line, first.Reason)
	if remedy := advice.For(first, 2*b.n > b.all, b.run); remedy != "" {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	return err
}
