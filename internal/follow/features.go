package follow

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/bulk"
	"github.com/firstseen/firstseen/internal/journal"
)

// AppendFeatures appends the record of a document whose features are known. The scheme has no secret.
func AppendFeatures(b []byte, id string, arrival int64, scheme string, s *feature.Sketch) []byte {
	text := append([]byte(scheme), '\n')
	text = bulk.AppendSketch(text, s)
	text = binary.LittleEndian.AppendUint64(text, xxh3.Hash(text))
	e := journal.Entry{Kind: journal.Sketched, Time: arrival, ID: id, Text: text}
	return e.Append(b)
}

var (
	errNoFeatures = errors.New("it has features, and this log takes none: its first follower had a key")
	errScheme     = errors.New("its features are of another scheme than the log's")
	errFeatures   = errors.New("its features are not as they were written")
	errNoID       = errors.New("it has no id, and later verdicts name a document by it")
)

// takeFeatures makes the step that of a document with this sketch.
func (s *step) takeFeatures(scheme string) {
	text := s.Text
	s.Kind, s.Text = journal.Seen, nil
	if err := s.parseFeatures(scheme, text); err != nil {
		s.bad = err.Error()
	}
}

func (s *step) parseFeatures(scheme string, text []byte) error {
	if scheme == "" {
		return errNoFeatures
	}
	if s.ID == "" {
		return errNoID
	}
	sum := len(text) - 8
	if sum < 0 || binary.LittleEndian.Uint64(text[sum:]) != xxh3.Hash(text[:sum]) {
		return errFeatures
	}
	name, record, _ := bytes.Cut(text[:sum], []byte("\n"))
	if string(name) != scheme {
		return errScheme
	}
	if bulk.ParseSketch(&s.Sketch, record) != nil || !judged(scheme, &s.Sketch) {
		return errFeatures
	}
	return nil
}

// judged reports whether a sketch can be one of the scheme. A judge panics at another method's data.
func judged(scheme string, s *feature.Sketch) (ok bool) {
	of, known := feature.Named(scheme, nil)
	if !known || len(s.Features) > of.Features() {
		return false
	}
	d, err := dedup.New(dedup.Config{Scheme: of, Table: new(dedup.Memory)})
	if err != nil {
		return false
	}
	defer func() { ok = recover() == nil && ok }()
	for range 2 { // the second time it is compared with itself
		if _, err = d.Decide(dedup.Document{ID: "x", Sketch: s}); err != nil {
			return false
		}
	}
	return true
}
