// Package derive reads inputs again, together with the report of the run over them. From both it
// derives attributes for every document, and the list of kept files. A report is in the order of
// the inputs, so memory grows with neither.
package derive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// ErrOther is returned if a report does not belong to the inputs.
var ErrOther = errors.New("the report is of other inputs, or they have changed since, or they are read with another --format, --text-field or --id-field: give those of that run, or run firstseen dedup again")

// Each calls f for every record of a source, a bad one too, with its line of the report, nil if it
// has none. begin, unless it is nil, is called for every input before its records, also for one without
// any. n is the number of inputs. Ids are as in the report.
func Each(ctx context.Context, source *corpus.Source, n int, report *lines.Reports, begin func(input int) error, f func(doc *corpus.Document, line *lines.Line) error) error {
	defer source.Close() // only read
	next, stop := iter.Pull2(report.All(ctx))
	defer stop()
	line, err, _ := next() // the next of the report, nil at its end
	if err != nil {
		return err
	}
	if begin == nil {
		begin = func(int) error { return nil }
	}
	begun := 0
	err = corpus.EachBlock(ctx, source, func(b *corpus.Block, parser corpus.Parser) error {
		for ; begun <= b.Input; begun++ {
			if err := begin(begun); err != nil {
				return err
			}
		}
		file := asReported(b.File)
		for doc := range parser.Parse(b) {
			if !utf8.Valid(doc.ID) {
				doc.ID = []byte(asReported(string(doc.ID)))
			}
			own := line
			if own == nil || doc.At != own.Line || file != own.File {
				own = nil
			} else if doc.Bad != nil || string(doc.ID) != own.ID {
				return fmt.Errorf("%w; %s:%v is not the document %q", ErrOther, b.File, doc.At, own.ID)
			}
			err := f(doc, own)
			if err == nil && own != nil {
				line, err, _ = next()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for ; err == nil && begun < n; begun++ {
		err = begin(begun)
	}
	if err == nil && line != nil {
		err = fmt.Errorf("%w; %s:%v is in the report and was not met", ErrOther, line.File, line.Line)
	}
	return err
}

// asReported is the name of a file, or an id made of one, as a report has it: there JSON has U+FFFD for
// each byte outside UTF-8.
func asReported(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return string([]rune(name))
}

// KeptFiles calls f, in order, for every input whose documents were all kept, or with others for
// every one whose documents were all removed. If each input is one document, these are the kept or
// the removed files. An input without documents is neither, nor is one with a bad record, which bad is
// called with.
func KeptFiles(ctx context.Context, source *corpus.Source, inputs []input.Input, report *lines.Reports, others bool, f func(input int) error, bad func(*corpus.BadRecord) error) error {
	at, documents, wanted := -1, 0, true
	settle := func() error {
		if at < 0 || documents == 0 || !wanted {
			return nil
		}
		return f(at)
	}
	err := Each(ctx, source, len(inputs), report, func(input int) error {
		err := settle()
		at, documents, wanted = input, 0, true
		return err
	}, func(doc *corpus.Document, line *lines.Line) error {
		documents++
		removed := line != nil && !line.Kept
		wanted = wanted && doc.Bad == nil && removed == others
		if doc.Bad != nil {
			return bad(doc.Bad)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return settle()
}
