// Package report holds the answers to people and their programs: a line for each document found not
// unique, and the summary of a run.
package report

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
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
	Estimated bool         `json:"estimated,omitempty"` // Contained, by sketches of the whole texts
	Distance  *int         `json:"distance,omitempty"`  // bits in which the fingerprints differ, by the method simhash
	Confirm   *Confirm     `json:"confirm,omitempty"`   // the result of comparing the texts, with --verify
	Shared    int          `json:"shared"`
	Among     int          `json:"comparable"`
	Count     int          `json:"segments"`
	OfCount   int          `json:"of_segments"`
	Also      []AlsoDoc    `json:"also"`
	Sample    []string     `json:"sample"`
	Spans     [][2]int     `json:"spans,omitzero"` // see Spans; nil if they were not asked for
	New       *[2]int      `json:"new,omitempty"`  // the passage missing from Of, as in Spans
	Passages  []Passage    `json:"passages,omitempty"`
	Covered   int          `json:"covered,omitempty"` // words in passages
	Left      *int         `json:"left,omitempty"`    // words outside what can be cut of them
	File      string       `json:"file"`
	Line      corpus.Place `json:"line"`           // the place of the document in File
	Time      *time.Time   `json:"time,omitempty"` // the time of its making, if its format records one

	Fate // with --prefer and --remove-within
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
	Inner   bool   `json:"inner,omitempty"` // the earlier text was not read: it may go on at both ends
}

// Offset is a place in an earlier document, in characters. One below 0 is unknown, and is not written.
type Offset int

// IsZero reports whether the offset is left out of JSON.
func (o Offset) IsZero() bool { return o < 0 }

// AlsoDoc is another earlier document that shares segments.
type AlsoDoc struct {
	ID     string `json:"id"`
	Shared int    `json:"shared"`
}

// Share is a share from 0 to 1, written with at most four decimals. It is rounded down, so that a
// share below the threshold never reads as one that reached it.
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

// Report turns a result into its line. text is the document's text and set its
// features, for the samples; either may be nil.
func Report(r *dedup.Result, id string, set *feature.Set, text []byte) Reported {
	line := Reported{
		ID: id, Verdict: VerdictOf(r), Kept: r.Kept, Exact: r.Exact, SameID: r.SameID, Again: r.Again,
		Score: Share(r.Score), Seen: Share(r.Seen), Contained: Share(r.Contained), Estimated: r.Estimated,
		Shared: r.Of.Shared,
		Among:  r.Comparable, Count: r.Segments, OfCount: r.OfSegments,
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

// Consumed is the verdict about a document that passages leave hardly anything of.
const Consumed = "consumed"

// VerdictOf is the verdict of a result, as reports name it.
func VerdictOf(r *dedup.Result) string {
	if r.Consumed {
		return Consumed
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
		cut := maxSampleBytes
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	return string(s)
}

// appendJSON appends v as JSON without escaping <, > and &, which are common in
// ids and make reports hard to read.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Spans returns the passages of a document that its source has too, or all its sources if it has
// several. Each has its first character and the one behind its last, counted in code points from 0,
// in the order of the text. They are the shared segments; at most as many are known as features are
// chosen. For an exact copy the span is all of the text. If the filter alone decided, the spans are
// unknown, and there are none. The result is not nil.
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

// inCharacters turns places in bytes, ascending, into those in characters.
func inCharacters(passages [][2]int, text []byte) [][2]int {
	spans := make([][2]int, 0, len(passages))
	at, chars := 0, 0
	count := func(to int) int {
		chars += utf8.RuneCount(text[at:to])
		at = to
		return chars
	}
	for _, p := range passages {
		if p[0] < at { // no two segments overlap; features of another method may
			at, chars = 0, 0
		}
		spans = append(spans, [2]int{count(p[0]), count(p[1])})
	}
	return spans
}
