package explain

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// ReadLine reads a line of a report, numbered from 1.
func ReadLine(ctx context.Context, path string, number int) (*lines.Line, error) {
	report, err := lines.Open([]string{path}, nil)
	if err != nil {
		return nil, err
	}
	n := 0
	for line, err := range report.All(ctx) {
		if n++; err == nil && n < number {
			continue
		}
		switch {
		case err != nil:
			return nil, err
		case line.File == "":
			return nil, fmt.Errorf("%s:%d names no file: it is not a line of a report", path, number)
		case line.Of == nil:
			return nil, fmt.Errorf("%s:%d names no earlier document (%s): there is no pair to explain", path, number, line.Why)
		}
		return line, nil
	}
	return nil, fmt.Errorf("%s has no line %d: %w", path, number, io.ErrUnexpectedEOF)
}

// errNotThere: the inputs are not those of the report.
var errNotThere = errors.New("give the INPUTs of that run, with its --text-field, --id-field, --format and --encoding")

// Find reads the two documents of a line. each goes over all documents of the inputs, in
// order, as long as do returns true; it may be called several times. The earlier one is
// the first with its id; others says whether more before the later one have it.
func Find(l *lines.Line, each func(do func(*corpus.Block, *corpus.Document) bool) error) (earlier, later Document, others bool, err error) {
	foundEarlier, foundLater := false, false
	err = each(func(b *corpus.Block, doc *corpus.Document) bool {
		switch id := string(doc.ID); {
		case b.File == l.File && doc.At == l.Line:
			if id == l.ID {
				later, foundLater = Document{ID: id, Text: string(doc.Text), Exact: doc.Exact}, true
			}
		case id == *l.Of && foundEarlier:
			others = true
		case id == *l.Of:
			earlier, foundEarlier = Document{ID: id, Text: string(doc.Text), Exact: doc.Exact}, true
		}
		return !foundEarlier || !foundLater
	})
	switch {
	case err != nil:
	case !foundLater:
		err = fmt.Errorf("document %q does not stand at %s:%v: %w", l.ID, l.File, l.Line, errNotThere)
	case !foundEarlier:
		err = fmt.Errorf("no document of the inputs has the id %q: %w", *l.Of, errNotThere)
	}
	return earlier, later, others, err
}
