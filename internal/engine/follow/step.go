package follow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/bulk"
)

// Record is a record of a log.
type Record struct {
	Offset int64
	Time   time.Time
	Key    []byte // ignored
	Value  []byte
	Mark   bool // the end of a transaction, not a document
	// Stamped means that Time is the broker's (LogAppendTime). It then replaces that of an entry.
	Stamped bool
}

// refuse turns s into the step of a record without meaning.
func refuse(s *apply.Step, why string) {
	offset := s.Offset
	*s = *apply.Refused(&corpus.BadRecord{At: corpus.Place{Record: offset}, Reason: why})
	s.Offset = offset
}

func (f *Follower) prepare(records []Record) ([]*apply.Step, error) {
	steps := make([]*apply.Step, len(records))
	var g errgroup.Group
	g.SetLimit(cap(f.extractors))
	for i := range records {
		g.Go(func() error {
			s, err := parse(&records[i], f.fields)
			switch {
			case err != nil:
				return err
			case s.Kind == journal.Sketched:
				takeFeatures(s, f.scheme)
			default:
				f.extractors.Sketch(s)
			}
			s.Stamped = records[i].Stamped
			steps[i] = s
			return nil
		})
	}
	return steps, g.Wait()
}

// parse returns the step of a record. An error means that a later version wrote the record.
func parse(r *Record, fields jsonl.Fields) (*apply.Step, error) {
	s := &apply.Step{Offset: r.Offset}
	if r.Mark {
		return s, nil // without an answer
	}
	if line := bytes.TrimLeft(r.Value, " \t\r\n"); bytes.HasPrefix(line, []byte("{")) {
		return s, parseLine(s, r, line, fields)
	}
	e, rest, err := journal.CutEntry(r.Value)
	switch {
	case errors.Is(err, journal.ErrVersion) && len(rest) == 0: // otherwise its first bytes are by chance those of an entry
		return nil, fmt.Errorf("offset %d: %w; update this follower", r.Offset, err)
	case err != nil || len(rest) > 0:
		refuse(s, "it is neither an entry nor a line of JSON")
	case len(e.Batch) > index.MaxBatchName || !utf8.ValidString(e.Batch):
		refuse(s, "the name of its batch is too long, or not UTF-8")
	case (e.Kind == journal.Seen || e.Kind == journal.Sketched) && e.ID == "":
		refuse(s, noID)
	case len(e.ID) > corpus.MaxID || !utf8.ValidString(e.ID):
		refuse(s, fmt.Sprintf("its id is longer than %d bytes, or not UTF-8", corpus.MaxID))
	default:
		if s.Entry = e; r.Stamped {
			s.Time = r.Time.UnixNano()
		}
	}
	return s, nil
}

func parseLine(s *apply.Step, r *Record, line []byte, fields jsonl.Fields) error {
	p, err := jsonl.Format{Fields: fields}.NewParser("")
	if err != nil {
		return err
	}
	n := 0
	for doc := range p.Parse(apply.Lines(line, r.Offset)) {
		n++
		*s = *apply.Parsed(doc)
	}
	if s.Offset, s.Time = r.Offset, r.Time.UnixNano(); n != 1 {
		refuse(s, "a record holds one document, and this one has several lines")
	}
	return nil
}

// AppendFeatures appends the record of a document with known features. The scheme has no secret.
func AppendFeatures(b []byte, id string, arrival int64, scheme string, s *feature.Sketch) []byte {
	text := append([]byte(scheme), '\n')
	text = bulk.AppendSketch(text, s)
	text = binary.LittleEndian.AppendUint64(text, xxh3.Hash(text))
	e := journal.Entry{Kind: journal.Sketched, Time: arrival, ID: id, Text: text}
	return e.Append(b)
}

// Reasons to refuse a record.
const (
	noFeatures    = "it has features, and this log takes none: its first follower had a key"
	otherScheme   = "its features have another scheme than the log"
	otherFeatures = "its features are damaged"
	noID          = "it has no id, and later verdicts name documents by their ids"
)

// takeFeatures turns s into the step of a document with its sketch.
func takeFeatures(s *apply.Step, scheme string) {
	text := s.Text
	s.Kind, s.Text = journal.Seen, nil
	sum := max(len(text)-8, 0)
	name, record, _ := bytes.Cut(text[:sum], []byte("\n"))
	switch {
	case scheme == "":
		refuse(s, noFeatures)
	case len(text) < 8 || binary.LittleEndian.Uint64(text[sum:]) != xxh3.Hash(text[:sum]):
		refuse(s, otherFeatures)
	case string(name) != scheme:
		refuse(s, otherScheme)
	case bulk.ParseSketch(&s.Sketch, record) != nil || !judged(scheme, &s.Sketch):
		refuse(s, otherFeatures)
	}
}

// judged reports whether a sketch can be of the scheme.
func judged(scheme string, s *feature.Sketch) bool {
	of, known := feature.Named(scheme, nil)
	if !known || len(s.Features) > of.Features() {
		return false
	}
	d, err := dedup.New(dedup.Config{Scheme: of, Table: new(dedup.Memory)})
	if err != nil {
		return false
	}
	for range 2 { // the second time it is compared with itself
		if _, err = bulk.Decide(d, dedup.Document{ID: "x", Sketch: s}); err != nil {
			return false
		}
	}
	return true
}

// confirming is the number of different seconds, all ahead of the clock, that move it.
const confirming = 8

// clock is the clock of a log with a window; see rule 17 in docs/design.md. The documents before a
// document alone determine it, so all followers agree. Its JSON form is a contract.
type clock struct {
	Time  int64   `json:"clock,omitempty"` // Unix seconds
	Ahead []int64 `json:"ahead,omitempty"` // different times of the last documents, if all were ahead
}

// arrive moves the clock to the arrival of a document. If that is ahead, it replaces it, and
// returns true. window is in seconds, and not 0. A checkpoint just before the document already has
// this clock, so a second call for the same document changes nothing.
func (c *clock) arrive(s *apply.Step, window uint32) bool {
	at := min(max(s.Time/1e9, 0), math.MaxUint32)
	step := max(int64(min(window/8, 24*60*60)), 1)
	if !s.Stamped && at > c.Time+step {
		if !slices.Contains(c.Ahead, at) {
			c.Ahead = append(c.Ahead, at)
		}
		if len(c.Ahead) == confirming {
			c.Time, c.Ahead = slices.Min(c.Ahead), c.Ahead[1:]
		}
		if at > c.Time+step {
			s.Time = c.Time * 1e9
			return true
		}
	}
	c.Time, c.Ahead = max(c.Time, at), nil
	return false
}

// FeatureScheme returns the scheme of a log that takes features. name is that of its topic. A log
// that has lost its first record shows the scheme by its first features or later settings.
func FeatureScheme(ctx context.Context, topic *Topic, name string) (scheme feature.Scheme, err error) {
	var settings *Settings
	first, end, err := topic.Bounds(ctx)
	for topic.From(first); err == nil && settings == nil && first < end; {
		var records []Record
		records, err = topic.Next(ctx)
		for i := 0; i < len(records) && settings == nil; i++ {
			first, settings = records[i].Offset+1, shown(records[i].Value)
		}
	}
	switch {
	case err != nil:
		return scheme, err
	case settings == nil:
		return scheme, fmt.Errorf("topic %s has neither settings nor features: begin it with firstseen serve follow --no-key; if retention has removed its first record, begin another", name)
	case !settings.NoKey:
		return scheme, fmt.Errorf("topic %s takes no features, because its first follower had a key: give it documents, or begin another topic with firstseen serve follow --no-key", name)
	}
	scheme, ok := feature.Named(settings.Scheme, nil)
	if !ok {
		return scheme, fmt.Errorf("topic %s has the scheme %s, which this firstseen does not know: update firstseen", name, settings.Scheme)
	}
	return scheme, nil
}

// shown returns the settings that a record shows, or nil.
func shown(record []byte) *Settings {
	e, _, err := journal.CutEntry(record)
	switch {
	case err != nil:
	case e.Kind == journal.Settings:
		if s, err := parseSettings(e.Text); err == nil {
			return &s
		}
	case e.Kind == journal.Sketched:
		name, _, _ := bytes.Cut(e.Text, []byte("\n"))
		return &Settings{Scheme: string(name), NoKey: true}
	}
	return nil
}

// FeatureReader returns a maker of readers that turn a block's documents into records of features.
func FeatureReader(scheme feature.Scheme, now func() time.Time) func() (corpus.Reader[[][]byte], error) {
	return func() (corpus.Reader[[][]byte], error) {
		extractor, err := feature.NewExtractor(scheme)
		return func(_ *corpus.Block, docs iter.Seq[*corpus.Document], records *[][]byte) error {
			*records = (*records)[:0]
			var sketch feature.Sketch
			arrival := now().UnixNano()
			for doc := range docs {
				extractor.ExtractFor(&sketch, doc.Text, doc.Exact)
				*records = append(*records, AppendFeatures(nil, string(doc.ID), arrival, scheme.Name(), &sketch))
			}
			return nil
		}, err
	}
}

// recordsTogether is the number of records appended to a log before the brokers must answer.
const recordsTogether = 1000

// AppendAll appends records, and returns the number of those that the brokers have.
func (t *Topic) AppendAll(ctx context.Context, records [][]byte) (added int64, err error) {
	for chunk := range slices.Chunk(records, recordsTogether) {
		if _, err := t.Append(ctx, chunk); err != nil {
			return added, err
		}
		added += int64(len(chunk))
	}
	return added, nil
}
