// Package explain shows why a text is, or is not, taken for a copy of an earlier one. It gives all
// scores of the pair, the text they share, and the rules in words.
package explain

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/short"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// A Document is one of the two texts compared.
type Document struct {
	ID    string `json:"id"`
	Text  string `json:"-"`
	Exact bool   `json:"exact_only,omitempty"` // see [corpus.Document]
	Bytes int    `json:"bytes"`
	Units int    `json:"units"` // CJK characters, and words
	// Segments is the number of segments chosen as features.
	Segments int `json:"segments"`
}

// An Explanation holds all figures of a pair. The JSON form is a contract, but for text in Reasons.
type Explanation struct {
	Earlier Document          `json:"earlier"`
	Later   Document          `json:"later"`
	Scores  similarity.Scores `json:"scores"` // of the later text against the earlier one
	// Weighed is the number of documents that weight the words of the cosine; 0 if none do.
	Weighed int `json:"weighed_by"`
	// Verdict is the result of a run that reads only these two documents.
	Verdict report.Reported `json:"verdict"`
	// Reported is the line of a report, from a run that read other documents too.
	Reported *report.Reported `json:"reported,omitempty"`
	// Among explains a verdict of the report that these two documents alone do not have.
	Among   *Among          `json:"among,omitempty"`
	Reasons []method.Reason `json:"reasons"`
	// Shared lists the segments chosen in both texts, the longest first.
	Shared []Segment `json:"shared_segments"`
	// Changes lists the differences between the words of two short texts, in order.
	Changes []short.Change `json:"changes,omitempty"`
	// OtherKeys is the number of shared keys that are not segments, such as those of runs.
	OtherKeys int `json:"other_keys"`
}

// Among is the verdict on the later document beside all that came before it and share text with it.
type Among struct {
	Verdict   report.Reported `json:"verdict"`
	Reasons   []method.Reason `json:"reasons"`   // those about its witness, if it has one
	Documents []string        `json:"documents"` // ids of those that were kept
}

// A Segment is text that stands in both documents. Its ranges are in bytes.
type Segment struct {
	Text    string `json:"text"` // as in the later text
	Earlier [2]int `json:"earlier"`
	Later   [2]int `json:"later"`
}

// Rules holds the scheme and the rules that judge a pair.
type Rules struct {
	Scheme feature.Scheme
	Rules  dedup.Rules
	// Frequencies weigh the words of the cosine; nil weighs all alike.
	Frequencies *similarity.Frequencies
}

// Pair explains a kept document and one that came after it.
func Pair(earlier, later Document, rules Rules) (*Explanation, error) {
	e := &Explanation{Earlier: earlier, Later: later, Reasons: []method.Reason{}, Shared: []Segment{}}
	if rules.Frequencies != nil {
		e.Weighed = rules.Frequencies.Documents()
	}
	a, b := similarity.New(earlier.Text), similarity.New(later.Text)
	e.Earlier.Bytes, e.Earlier.Units = len(earlier.Text), a.Units()
	e.Later.Bytes, e.Later.Units = len(later.Text), b.Units()
	e.Scores = similarity.Of(b, a, rules.Frequencies)
	return e, e.judge(rules)
}

// judge decides the two documents in a run of their own.
func (e *Explanation) judge(rules Rules) error {
	d, extractor, err := rules.begin()
	if err != nil {
		return err
	}
	var first, second feature.Sketch
	extractor.ExtractFor(&first, []byte(e.Earlier.Text), e.Earlier.Exact)
	extractor.ExtractFor(&second, []byte(e.Later.Text), e.Later.Exact)
	e.Earlier.Segments, e.Later.Segments = first.Parts(), second.Parts()
	if _, err := d.Decide(dedup.Document{ID: e.Earlier.ID, Sketch: &first}); err != nil {
		return err
	}
	r, why, err := d.Explain(e.Later.ID, &second)
	if err != nil {
		return err
	}
	e.Reasons = append(e.Reasons, why...)
	if e.Earlier.Exact || e.Later.Exact {
		e.Reasons = append(e.Reasons, method.Reason{Rule: "2", Says: "one of them is a page of links, and only an exact copy of such a page is a copy"})
	}
	e.Verdict = report.Report(&r, e.Later.ID, &second, []byte(e.Later.Text))
	e.share(&first, &second)
	if max(e.Earlier.Units, e.Later.Units) <= short.MaxUnits {
		e.Changes = short.Changes([]byte(e.Later.Text), []byte(e.Earlier.Text))
	}
	return nil
}

// begin returns what decides documents and extracts their features.
func (r *Rules) begin() (*dedup.Deduper, *feature.Extractor, error) {
	d, err := dedup.New(dedup.Config{Scheme: r.Scheme, Rules: r.Rules, Table: &dedup.Memory{}})
	if err != nil {
		return nil, nil, err
	}
	extractor, err := feature.NewExtractor(r.Scheme)
	return d, extractor, err
}

// Replay sets Among if the report has another verdict than these two alone. It decides all records
// before the later document, as the run did, and keeps about 3 KB in memory for each kept one. It
// lists those that share a key, up to the most that a key can have.
func (e *Explanation) Replay(rules Rules, records iter.Seq2[corpus.Record, error]) error {
	if e.Reported == nil || e.Reported.Verdict == e.Verdict.Verdict {
		return nil
	}
	d, extractor, err := rules.begin()
	if err != nil {
		return err
	}
	var later, other feature.Sketch
	extractor.ExtractFor(&later, []byte(e.Later.Text), e.Later.Exact)
	held := map[uint64]int{}
	for i := range later.Features {
		held[later.Features[i].Key] = 0
	}
	among := &Among{Documents: []string{}, Reasons: []method.Reason{}}
	for r, err := range records {
		switch {
		case err != nil:
			return err
		case r.Bad != nil || r.Empty || r.Other:
			continue
		case r.Block.File == e.Reported.File && r.At == e.Reported.Line:
			result, why, err := d.Explain(e.Later.ID, &later)
			among.Verdict = report.Report(&result, e.Later.ID, &later, r.Text)
			for _, reason := range why {
				if reason.Of == "" || reason.Of == result.Of.ID || result.Of.Num == 0 {
					among.Reasons = append(among.Reasons, reason)
				}
			}
			e.Among = among
			return err
		}
		extractor.ExtractFor(&other, r.Text, r.Exact)
		result, err := d.Decide(dedup.Document{ID: string(r.ID), Sketch: &other})
		if err != nil {
			return err
		}
		if !result.Kept || !slices.ContainsFunc(other.Features, func(f feature.Feature) bool {
			n, shared := held[f.Key]
			return shared && n < dedup.MaxHolders
		}) {
			continue
		}
		among.Documents = append(among.Documents, string(r.ID))
		for i := range other.Features {
			if n, shared := held[other.Features[i].Key]; shared {
				held[other.Features[i].Key] = n + 1
			}
		}
	}
	return nil
}

// share records the features that both documents have.
func (e *Explanation) share(first, second *feature.Sketch) {
	at := map[uint64]int{}
	for i := range first.Features {
		at[first.Features[i].Key] = i
	}
	for i, f := range second.Features {
		j, both := at[f.Key]
		switch {
		case !both:
		case i >= second.Parts() || j >= first.Parts():
			e.OtherKeys++
		default:
			g := first.Features[j]
			e.Shared = append(e.Shared, Segment{
				Text:    report.Quote([]byte(e.Later.Text), f),
				Earlier: [2]int{int(g.Start), int(g.End)}, Later: [2]int{int(f.Start), int(f.End)},
			})
		}
	}
}

// ReadLine reads a line of a report; the first has number 1.
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
		case line.Of == nil && line.Instead != nil:
			return nil, fmt.Errorf("%s:%d names no earlier document (%s): explain the line of that copy, %s at %s:%v", path, number, line.Why, line.Instead.ID, line.Instead.File, line.Instead.Line)
		case line.Of == nil:
			return nil, fmt.Errorf("%s:%d names no earlier document (%s): there is no pair to explain", path, number, cmp.Or(line.Why, line.Verdict))
		}
		return line, nil
	}
	return nil, fmt.Errorf("%s has no line %d, only %d lines", path, number, n)
}

// errNotThere holds the remedy for inputs that are not those of the report.
var errNotThere = errors.New("give the INPUTs of that run, with its --text-field, --id-field, --format and --encoding")

// Find returns the two documents of a line from the records of the inputs, the earlier one first.
// That one is the first with its id. others reports whether more before the later one have it.
func Find(l *lines.Line, records iter.Seq2[corpus.Record, error]) (docs [2]Document, others bool, err error) {
	var found [2]bool
	take := func(i int, r corpus.Record) {
		docs[i], found[i] = Document{ID: string(r.ID), Text: string(r.Text), Exact: r.Exact}, true
	}
	for r, err := range records {
		if err != nil {
			return docs, others, err
		}
		switch id := string(r.ID); {
		case r.Bad != nil || r.Empty:
		case r.Block.File == l.File && r.At == l.Line:
			if id == l.ID {
				take(1, r)
			}
		case id == *l.Of && found[0]:
			others = true
		case id == *l.Of:
			take(0, r)
		}
		if found[0] && found[1] {
			break
		}
	}
	switch {
	case !found[1]:
		err = fmt.Errorf("document %q is not at %s:%v: %w", l.ID, l.File, l.Line, errNotThere)
	case !found[0]:
		err = fmt.Errorf("no document of the inputs has the id %q: %w", *l.Of, errNotThere)
	}
	return docs, others, err
}

// MaxBeside is the size of the longest text shown side by side, in bytes.
const MaxBeside = 4 << 20

// maxListed is the most shared segments quoted in a list.
const maxListed = 10

// Write prints the explanation as text.
func (e *Explanation) Write(w io.Writer, style textdiff.Style) error {
	out := bufio.NewWriter(w)
	data := struct {
		*Explanation
		Listed []Segment
		More   int
	}{e, e.Shared[:min(len(e.Shared), maxListed)], max(len(e.Shared)-maxListed, 0)}
	page := template.Must(template.New("explanation").Funcs(template.FuncMap{
		"plain": plain, "share": share, "asked": func() float64 { return similarity.Verified.Least },
	}).Parse(pageText))
	if err := page.Execute(out, data); err != nil {
		return err
	}
	if max(e.Earlier.Bytes, e.Later.Bytes) > MaxBeside {
		fmt.Fprintf(out, "\nThe texts are longer than %d MiB and not shown side by side.\n", MaxBeside>>20)
		return out.Flush()
	}
	legend := "⟦ ⟧ is in one text alone, ⟨ ⟩ in both but elsewhere, « » is a shared segment."
	if style.Color {
		legend = "\x1b[31mRed\x1b[0m is in one text alone, \x1b[33myellow\x1b[0m in both but elsewhere, \x1b[32mgreen\x1b[0m is a shared segment."
	}
	fmt.Fprintf(out, "\nSide by side, the earlier text on the left. %s\n\n", legend)
	for _, s := range e.Shared {
		style.Left, style.Right = append(style.Left, s.Earlier), append(style.Right, s.Later)
	}
	byStart := func(a, b [2]int) int { return a[0] - b[0] }
	slices.SortFunc(style.Left, byStart)
	slices.SortFunc(style.Right, byStart)
	if err := textdiff.Write(out, e.Earlier.Text, e.Later.Text, style); err != nil {
		return err
	}
	return out.Flush()
}

//go:embed explain.txt
var pageText string

// share formats a share. A pointer to one is nil if measuring it took too long.
func share(v any) string {
	value := reflect.Indirect(reflect.ValueOf(v))
	if !value.IsValid() {
		return "     -"
	}
	return fmt.Sprintf("%6.4f", value.Interface())
}

func plain(s string) string { return strings.Map(textdiff.Plain, s) }
