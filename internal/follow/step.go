package follow

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/apply"
	"github.com/firstseen/firstseen/internal/journal"
)

// Record is a record of a log.
type Record struct {
	Offset int64
	Time   time.Time
	Key    []byte // nothing is made of it
	Value  []byte
}

// step is the request of a record.
type step struct {
	apply.Step
	offset int64
	bad    string // the reason why it asks for nothing
}

// prepare makes the steps of records, with all workers.
func (f *Follower) prepare(records []Record) ([]*step, error) {
	steps := make([]*step, len(records))
	var g errgroup.Group
	per := (len(records) + len(f.extractors) - 1) / len(f.extractors)
	for w, e := range f.extractors {
		g.Go(func() error {
			for i := w * per; i < min((w+1)*per, len(records)); i++ {
				s, err := parse(&records[i], f.fields)
				if err != nil {
					return err
				}
				switch {
				case s.bad != "":
				case s.Kind == journal.Seen:
					e.ExtractFor(&s.Sketch, s.Text, s.Exact)
				case s.Kind == journal.Sketched:
					s.takeFeatures(f.scheme)
				}
				steps[i] = s
			}
			return nil
		})
	}
	return steps, g.Wait()
}

// parse returns the step of a record. An error means that a later version has written it.
func parse(r *Record, fields jsonl.Fields) (*step, error) {
	s := &step{offset: r.Offset}
	if len(r.Value) > 0 && r.Value[0] == '{' {
		err := s.parseLine(r, fields)
		return s, err
	}
	e, rest, err := journal.CutEntry(r.Value)
	switch {
	case errors.Is(err, journal.ErrVersion):
		return nil, fmt.Errorf("offset %d: %w; update this follower", r.Offset, err)
	case err != nil || len(rest) > 0:
		s.bad = "it is neither an entry nor a line of JSON"
	}
	s.Entry = e
	return s, nil
}

// noName stands for the name of a file: a document without an id would be called after it.
const noName = "\x00log"

// parseLine makes the step of a line of JSON.
func (s *step) parseLine(r *Record, fields jsonl.Fields) error {
	p, err := jsonl.Format{Fields: fields}.NewParser("")
	if err != nil {
		return err
	}
	n := 0
	for doc := range p.Parse(&corpus.Block{File: noName, First: corpus.Place{Record: 1}, Data: r.Value, Format: jsonl.Format{}}) {
		switch n++; {
		case doc.Bad != nil:
			s.bad = doc.Bad.Reason
		case len(doc.ID) >= len(noName) && string(doc.ID[:len(noName)]) == noName:
			s.bad = "it has no id, and later verdicts name a document by it"
		}
		s.Entry = journal.Entry{Kind: journal.Seen, Time: r.Time.UnixNano(), ID: string(doc.ID), Text: doc.Text}
	}
	if n != 1 {
		s.bad = "a record is one document, and this one has several lines"
	}
	return nil
}
