// Package report holds the results of a run for people and programs: a line for each document found
// not unique, and the summary.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// Reported is one line of a report, about a document found not unique. The JSON form is a contract,
// described in docs/manual.md; fields may be added, never changed.
type Reported struct {
	ID        string       `json:"id"`
	Verdict   string       `json:"verdict"`
	Kept      bool         `json:"kept"`
	Of        *string      `json:"of"`            // id of the witness; null if there is no single one
	Why       string       `json:"why,omitempty"` // why Of is null
	Exact     bool         `json:"exact"`
	SameID    bool         `json:"same_id"`
	Again     bool         `json:"again,omitempty"`
	Score     Share        `json:"score"`
	Seen      Share        `json:"seen"`
	Contained Share        `json:"contained"`
	Estimated bool         `json:"estimated,omitempty"` // Contained is estimated from sketches of the whole texts
	Distance  *int         `json:"distance,omitempty"`  // bits in which the fingerprints differ, with the method simhash
	Confirm   *Confirm     `json:"confirm,omitempty"`   // the result of comparing the texts, with --verify
	Shared    int          `json:"shared"`
	Count     int          `json:"segments"`
	OfCount   int          `json:"of_segments"`
	Also      []AlsoDoc    `json:"also"`
	Sample    []string     `json:"sample"`
	Spans     [][2]int     `json:"spans,omitzero"` // see Spans; nil if not requested
	New       *[2]int      `json:"new,omitempty"`  // the passage missing from Of, as in Spans
	Passages  []Passage    `json:"passages,omitempty"`
	Covered   int          `json:"covered,omitempty"` // words in passages
	Left      *int         `json:"left,omitempty"`    // words left if the passages are cut as far as possible
	Differs   string       `json:"differs,omitempty"` // what makes a short text no copy of Of: numbers, negation, word, length
	File      string       `json:"file"`
	Line      corpus.Place `json:"line"`           // the place of the document in File
	Time      *time.Time   `json:"time,omitempty"` // time of creation, if the format records it

	Fate // with --prefer and --remove-within

	Fields map[string][2]int `json:"fields,omitempty"` // places of the fields that the text joins, as in Spans

	Shard int `json:"shard,omitempty"` // only in a report of shards, which has an [End]
}

// End holds the counts of the last line of a report of shards. A report without it was cut off.
type End struct {
	Lines     int64  `json:"lines"` // lines before the last one
	Documents int64  `json:"documents"`
	Bad       int64  `json:"bad_records"`
	Texts     uint64 `json:"texts,string"` // sum of SumText over all documents
}

// Add adds the counts of more documents.
func (e *End) Add(o End) {
	e.Lines, e.Documents, e.Bad, e.Texts = e.Lines+o.Lines, e.Documents+o.Documents, e.Bad+o.Bad, e.Texts+o.Texts
}

// SumText returns the hash of a document. Sums of hashes, modulo 2^64, do not depend on the order.
// docs/format.md, "Shards of features", defines it.
func SumText(at corpus.Place, id, text []byte) uint64 {
	return xxh3.HashSeed(text, xxh3.HashSeed(id, uint64(at.Part)<<40+uint64(at.Record)))
}

// Confirm is the result of comparing the texts of two documents.
type Confirm struct {
	OK    bool   `json:"ok"`
	Score *Share `json:"score,omitempty"` // if they were compared
	Why   string `json:"why,omitempty"`   // why they were not
}

// Passage is a stretch of a kept document that stands in an earlier one, in characters.
type Passage struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Of      string `json:"of"`
	OfStart Offset `json:"of_start,omitzero"` // unknown if Inner
	OfEnd   Offset `json:"of_end,omitzero"`
	Units   int    `json:"units"`           // words
	Inner   bool   `json:"inner,omitempty"` // the earlier text was not read; the passage may be longer at both ends
}

// Offset is a character position in an earlier document. A negative one is unknown and omitted.
type Offset int

// IsZero reports whether the offset is omitted from JSON.
func (o Offset) IsZero() bool { return o < 0 }

// AlsoDoc is another earlier document that shares segments.
type AlsoDoc struct {
	ID     string `json:"id"`
	Shared int    `json:"shared"`
}

// Share is a share from 0 to 1, written with at most four decimals. It is rounded down, so a share
// below the threshold never reads as one that reached it.
type Share float64

// MarshalJSON writes the share as a JSON number.
func (s Share) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, math.Floor(float64(s)*1e4+1e-9)/1e4, 'f', -1, 64), nil
}

const (
	maxSamples     = 3
	maxSampleBytes = 240
)

const (
	whyMosaic     = "several earlier documents together"
	whyFilterOnly = "the filter alone knows no documents"
	whyPreferred  = "a later copy is preferred"
)

// Report returns the line of a result. With set or text nil, it may lack Sample and New.
func Report(r *dedup.Result, id string, set *feature.Set, text []byte) Reported {
	line := Reported{
		ID: id, Verdict: VerdictOf(r), Kept: r.Kept, Exact: r.Exact, SameID: r.SameID, Again: r.Again,
		Score: Share(r.Score), Seen: Share(r.Seen), Contained: Share(r.Contained), Estimated: r.Estimated,
		Shared: r.Of.Shared, Differs: r.Differ, Count: r.Segments, OfCount: r.OfSegments,
		Also: make([]AlsoDoc, 0, len(r.Also)), Sample: samples(r, set, text),
	}
	if r.ByDistance {
		line.Distance = &r.Distance
	}
	if r.Asked {
		line.Confirm = &Confirm{OK: r.Confirm.OK, Why: r.Confirm.Why}
		if r.Confirm.Why == "" {
			line.Confirm.Score = (*Share)(&r.Confirm.Value)
		}
	}
	switch {
	case r.Of.Num != 0:
		line.Of = &r.Of.ID
	case r.Verdict == dedup.Mosaic:
		line.Why, line.Shared = whyMosaic, len(r.SharedSegments)
	case r.Verdict == dedup.Duplicate:
		line.Why = whyFilterOnly
	}
	if r.New.To > 0 && text != nil {
		start, end := feature.Locate(text, r.New)
		line.New = &inCharacters([][2]int{{start, end}}, text)[0]
	}
	line.addPassages(r)
	for _, s := range r.Also {
		line.Also = append(line.Also, AlsoDoc{s.ID, s.Shared})
	}
	return line
}

// Refusal says why a related document is no copy of its source: what differs in a short text, why its
// text did not confirm it, a new passage, or other text.
func (l *Reported) Refusal() string {
	switch {
	case l.Confirm != nil && !l.Confirm.OK:
		return cmp.Or(l.Confirm.Why, "the texts differ")
	case l.New != nil:
		return "new passage"
	}
	return cmp.Or(l.Differs, "other text")
}

// VerdictOf returns the verdict of a result, as named in reports. A consumed document has hardly any
// text outside passages.
func VerdictOf(r *dedup.Result) string {
	if r.Consumed {
		return "consumed"
	}
	return r.Verdict.String()
}

func (l *Reported) addPassages(r *dedup.Result) {
	for i := range r.Passages {
		p := &r.Passages[i]
		passage := Passage{p.Start, p.End, p.Of, Offset(p.OfStart), Offset(p.OfEnd), p.Units, p.Inner}
		if p.Inner {
			passage.OfStart, passage.OfEnd = -1, -1
		}
		l.Passages = append(l.Passages, passage)
	}
	if len(r.Passages) > 0 {
		l.Covered, l.Left = r.Covered, &r.Left
	}
}

// samples quotes the longest shared segments from the document itself.
func samples(r *dedup.Result, set *feature.Set, text []byte) []string {
	quotes := []string{}
	if set == nil || text == nil {
		return quotes
	}
	n := len(r.SharedSegments)
	if r.Exact {
		n = set.Parts()
	}
	for i := range min(maxSamples, n) {
		if !r.Exact {
			i = r.SharedSegments[i]
		}
		quotes = append(quotes, Quote(text, set.Features[i]))
	}
	return quotes
}

func Quote(text []byte, f feature.Feature) string {
	s := bytes.TrimSpace(text[f.Start:f.End])
	if len(s) > maxSampleBytes {
		s = bytes.ToValidUTF8(s[:maxSampleBytes], nil) // without part of a character
	}
	return string(s)
}

// AppendJSON appends v as JSON. It leaves <, > and & readable, because ids often have them.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Spans returns the passages of a document that its source has too, or all its sources if several.
// They are the shared segments, at most as many as chosen features. A span is the first character
// and the one after the last, in code points from 0; spans are in text order. That of an exact copy
// is the whole text. If the filter alone decided, there are none. The result is not nil.
func Spans(r *dedup.Result, set *feature.Set, text []byte) [][2]int {
	if r.Exact {
		return [][2]int{{0, utf8.RuneCount(text)}}
	}
	var passages [][2]int // in bytes
	for _, i := range r.SharedSegments {
		f := &set.Features[i]
		whole := text[f.Start:f.End]
		inner := bytes.TrimSpace(whole)
		start := int(f.Start) + bytes.Index(whole, inner)
		passages = append(passages, [2]int{start, start + len(inner)})
	}
	slices.SortFunc(passages, func(a, b [2]int) int { return a[0] - b[0] })
	return inCharacters(passages, text)
}

// Fields returns the places of the fields that a document's text joins, as in [Spans].
func Fields(fields []corpus.Field, text []byte) map[string][2]int {
	var places [][2]int
	for _, f := range fields {
		places = append(places, [2]int{f.Start, f.End})
	}
	found := map[string][2]int{}
	for i, span := range inCharacters(places, text) {
		found[fields[i].Name] = span
	}
	return found
}

// inCharacters converts ascending byte ranges of text to ranges of characters.
func inCharacters(passages [][2]int, text []byte) [][2]int {
	spans := make([][2]int, 0, len(passages))
	at, chars := 0, 0
	count := func(to int) int {
		chars += utf8.RuneCount(text[at:to])
		at = to
		return chars
	}
	for _, p := range passages {
		if p[0] < at { // segments do not overlap; features of other methods may
			at, chars = 0, 0
		}
		spans = append(spans, [2]int{count(p[0]), count(p[1])})
	}
	return spans
}

// tabled is a [Reported] as a row of Parquet. docs/manual.md names the fields that it lacks.
type tabled struct {
	ID        string       `json:"id"`
	Verdict   string       `json:"verdict"`
	Kept      bool         `json:"kept"`
	Of        *string      `json:"of"`
	Why       *string      `json:"why"`
	Exact     bool         `json:"exact"`
	SameID    bool         `json:"same_id"`
	Again     bool         `json:"again"`
	Score     float64      `json:"score"`
	Seen      float64      `json:"seen"`
	Contained float64      `json:"contained"`
	Estimated bool         `json:"estimated"`
	Shared    int32        `json:"shared"`
	Count     int32        `json:"segments"`
	OfCount   int32        `json:"of_segments"`
	Also      []tabledAlso `json:"also"`
	Sample    []string     `json:"sample"`
	Differs   *string      `json:"differs"`
	File      string       `json:"file"`
	Line      corpus.Place `json:"line" columns:"part line"`
	Time      *string      `json:"time"`
}

type tabledAlso struct {
	ID     string `json:"id"`
	Shared int32  `json:"shared"`
}

// Tabled returns an enclosure for a report in Parquet: its lines become rows.
func Tabled() (output.Enclosure, error) { return parquet.Lines[tabled]() }
