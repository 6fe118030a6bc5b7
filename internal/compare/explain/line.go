package explain

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firstseen/firstseen/corpus"
)

// A Line of a report, as far as it says which documents it is about.
type Line struct {
	ID   string       `json:"id"`
	Of   *string      `json:"of"`
	Why  string       `json:"why"`
	File string       `json:"file"`
	Line corpus.Place `json:"line"`
}

// ReadLine reads a line of a report, numbered from 1, of at most so many bytes.
func ReadLine(path string, number, most int) (l Line, err error) {
	f, err := os.Open(path)
	if err != nil {
		return l, err
	}
	defer f.Close() // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, most)
	for n := 1; lines.Scan(); n++ {
		if n < number {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.File == "" {
			return l, fmt.Errorf("%s:%d is not a line of a report (a compressed one has to be unpacked first)", path, number)
		}
		if l.Of == nil {
			return l, fmt.Errorf("%s:%d names no earlier document (%s): there is no pair to explain", path, number, l.Why)
		}
		return l, nil
	}
	if err := lines.Err(); err != nil {
		return l, fmt.Errorf("reading %s: %w", path, err)
	}
	return l, fmt.Errorf("%s has no line %d: %w", path, number, io.ErrUnexpectedEOF)
}

// errNotThere: the inputs are not those of the report.
var errNotThere = errors.New("give the INPUTs of that run, with its --text-field, --id-field, --format and --encoding")

// Find reads the two documents of a line. each goes over all documents of the inputs, in
// order, as long as do returns true; it may be called several times. The earlier one is
// the first with its id; others says whether more before the later one have it.
func (l *Line) Find(each func(do func(*corpus.Block, *corpus.Document) bool) error) (earlier, later Document, others bool, err error) {
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
