package report

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/report/commonest"
)

// Tally counts the decisions of a run. Checkpoints include it, so a resumed run continues counting.
type Tally struct {
	Documents  int64 `json:"documents"`
	Kept       int64 `json:"kept"`
	Removed    int64 `json:"removed"`
	Unique     int64 `json:"unique"`
	Duplicates int64 `json:"duplicates"`
	Exact      int64 `json:"exact"`   // duplicates equal in their whole text
	SameID     int64 `json:"same_id"` // duplicates whose witness has their id
	Mosaics    int64 `json:"mosaics"`
	Related    int64 `json:"related"`
	Again      int64 `json:"again"`                // kept before and sent again: kept again, except with Job.DropRetries
	Revisits   int64 `json:"revisits,omitempty"`   // removed documents replaced by revisit records
	Undated    int64 `json:"undated,omitempty"`    // documents without a time, if the window is over the documents' own times
	Unnamed    int64 `json:"without_id,omitempty"` // documents without an id, named by their file and place
	Partial    int64 `json:"partial,omitempty"`    // documents whose record has only the beginning
	Late       int64 `json:"late,omitempty"`       // documents older than the window when they came, not remembered
	Bad        int64 `json:"bad_records"`
	// TextFields has the fields in which documents had a text, with commas, if several are joined.
	TextFields string `json:"text_fields,omitempty"`
	// Copies kept without confirmation by their texts, and those whose texts could not be compared.
	Unconfirmed int64 `json:"unconfirmed,omitempty"`
	Uncompared  int64 `json:"uncompared,omitempty"`
	// With --passages: documents with hardly any text outside passages, kept documents with
	// passages, the passages and their words. Words counts those of all kept documents.
	Consumed int64 `json:"consumed,omitempty"`
	Passaged int64 `json:"with_passages,omitempty"`
	Passages int64 `json:"passages,omitempty"`
	Covered  int64 `json:"words_in_passages,omitempty"`
	Words    int64 `json:"words,omitempty"`
	// Lost counts the three inputs that lost most so far and, last, the one being read.
	Lost        [lostInputs + 1]LostInput `json:"most_lost,omitzero"`
	RecordBytes int64                     `json:"line_bytes"` // of all records, decompressed

	FirstBad *Rejected `json:"first_bad,omitempty"` // the first of the bad records
}

// lostInputs is the number of inputs that a summary names.
const lostInputs = 3

// LostInput counts the documents of an input.
type LostInput struct {
	Input     int    `json:"input,omitempty"` // its number, from 1; 0 for none
	Name      string `json:"file,omitempty"`  // only in a summary
	Documents int64  `json:"documents"`
	Removed   int64  `json:"removed"`
}

// Rejected is a bad record in the form of a line of the rejects.
type Rejected struct {
	File   string       `json:"file"`
	Line   corpus.Place `json:"line"`
	Reason string       `json:"reason"`
	Raw    string       `json:"raw,omitempty"`
}

// Reject copies a bad record, which may then be reused.
func Reject(bad *corpus.BadRecord) *Rejected {
	var r Rejected
	if err := json.Unmarshal(bad.AppendJSON(nil), &r); err != nil {
		panic(err) // it was just written
	}
	return &r
}

// CountField adds a field in which a document has a text.
func (t *Tally) CountField(name string) {
	switch {
	case t.TextFields == "":
		t.TextFields = name
	case !t.HasField(name):
		t.TextFields += "," + name
	}
}

// HasField reports whether a document had a text in that field.
func (t *Tally) HasField(name string) bool {
	for field := range strings.SplitSeq(t.TextFields, ",") {
		if field == name {
			return true
		}
	}
	return false
}

// Count counts a decision.
func (t *Tally) Count(r *dedup.Result) {
	t.Documents++
	for _, c := range []struct {
		n    *int64
		when bool
	}{
		{&t.Kept, r.Kept},
		{&t.Removed, !r.Kept},
		{&t.Again, r.Again},
		{&t.Unconfirmed, r.Asked && r.Kept},
		{&t.Uncompared, r.Asked && r.Kept && r.Confirm.Why != ""},
		{&t.Passaged, r.Kept && len(r.Passages) > 0},
		{&t.Consumed, r.Consumed},
		{&t.Unique, !r.Consumed && r.Verdict == dedup.Unique},
		{&t.Mosaics, !r.Consumed && r.Verdict == dedup.Mosaic},
		{&t.Related, !r.Consumed && r.Verdict == dedup.Related},
		{&t.Duplicates, !r.Consumed && r.Verdict == dedup.Duplicate},
		{&t.Exact, !r.Consumed && r.Verdict == dedup.Duplicate && r.Exact},
		{&t.SameID, !r.Consumed && r.Verdict == dedup.Duplicate && r.SameID},
	} {
		if c.when {
			*c.n++
		}
	}
	if r.Kept {
		t.Words += int64(r.PassageUnits)
		t.Covered += int64(r.Covered)
		t.Passages += int64(len(r.Passages))
	}
}

// CountInput counts a decided document of an input, by its number from 1. Inputs come in turn.
func (t *Tally) CountInput(input int, kept bool) {
	last := &t.Lost[lostInputs]
	if last.Input != input {
		t.Lost = t.mostLost()
		*last = LostInput{Input: input}
	}
	if last.Documents++; !kept {
		last.Removed++
	}
}

// mostLost returns the counted inputs, the one that lost most first; of equals, the first.
func (t *Tally) mostLost() [lostInputs + 1]LostInput {
	all := t.Lost
	slices.SortFunc(all[:], func(a, b LostInput) int {
		return cmp.Or(cmp.Compare(b.Removed, a.Removed), cmp.Compare(a.Input, b.Input))
	})
	return all
}

// TableState is the state of the side table.
type TableState struct {
	index.TableStats
	Lookups   uint64 `json:"lookups"`   // documents looked up in it
	Confirmed uint64 `json:"confirmed"` // filter hits found in it
	Refuted   uint64 `json:"refuted"`   // filter hits that were false
}

// Summary is the report at the end of a run. The JSON form is a contract.
type Summary struct {
	Tally
	Resumed     bool              `json:"resumed"`
	StoredBytes int64             `json:"stored_bytes"` // read from the inputs, as stored
	Unreadable  int               `json:"unreadable_inputs,omitempty"`
	Seconds     float64           `json:"seconds"` // of this process
	Filter      index.FilterState `json:"filter"`
	Table       *TableState       `json:"table"` // null with --filter-only
	Grown       int               `json:"filter_grown"`
	Commonest   []CommonSegment   `json:"commonest_segments"`
	MostCopied  []Copied          `json:"most_copied"`
	MostLost    []LostInput       `json:"most_lost"` // of several inputs
}

// NameLost sets MostLost, if there are several inputs. name returns the name of one, from 0.
func (s *Summary) NameLost(inputs int, name func(input int) string) {
	s.MostLost = []LostInput{}
	for _, lost := range s.mostLost() {
		if inputs > 1 && lost.Removed > 0 && len(s.MostLost) < lostInputs {
			s.MostLost = append(s.MostLost, LostInput{Name: name(lost.Input - 1), Documents: lost.Documents, Removed: lost.Removed})
		}
	}
}

//go:embed summary.txt
var summaryText string

// WriteText writes the summary as text: how many, what was copied, and where to look, in the report
// of that name, "" for none. details adds the state of filter and table.
func (s *Summary) WriteText(w io.Writer, report string, details bool) error {
	data := struct {
		*Summary
		MB, Rate, FilterMiB, Fill float64
		First                     []CommonSegment
		Copied                    []Copied
		Look                      string
		Details                   bool
	}{s, float64(s.RecordBytes) / 1e6, 0, float64(s.Filter.Bytes) / (1 << 20), 100 * s.Filter.Fill, s.Commonest[:min(len(s.Commonest), 3)], slices.DeleteFunc(slices.Clone(s.MostCopied[:min(len(s.MostCopied), 3)]), func(c Copied) bool { return c.Copies < 2 }), s.look(report), details}
	if s.Seconds > 0 {
		data.Rate = data.MB / s.Seconds
	}
	return template.Must(template.New("summary").Funcs(template.FuncMap{
		"percent": percent, "oneIn": OneIn, "visible": visible.Line, "sub": func(a, b int64) int64 { return a - b },
	}).Parse(summaryText)).Execute(w, data)
}

func percent(part, whole int64) string {
	if whole == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

func OneIn(rate float64) string {
	if rate < 1e-300 { // of an empty filter
		return "10^300"
	}
	return fmt.Sprintf("%.3g", 1/rate)
}

// look returns the command that shows a report, or says how to get one.
func (s *Summary) look(report string) string {
	switch {
	case report == input.Stdin || s.Kept == s.Documents && s.Related+s.Mosaics == 0:
		return ""
	case report == "":
		return "give --report FILE, and then firstseen report show FILE"
	}
	if special.MatchString(report) { // in a shell
		report = "'" + strings.ReplaceAll(report, "'", `'\''`) + "'"
	}
	return "firstseen report show " + visible.Line(report)
}

var special = regexp.MustCompile(`[^\pL\pN./_+=:,@%-]`)

// Copied is a kept document that others copied.
type Copied struct {
	ID     string `json:"id"` // at most 200 bytes of it
	Copies uint64 `json:"copies"`
}

// Copies counts the copies of kept documents, in 1,024 counters of about 300 bytes. The counts of as
// many documents are exact. Beyond, a count is never too high.
type Copies struct {
	counters commonest.Counters[uint32, string]
}

const maxCopied = 1024

// Add counts a removed document, by its witness.
func (c *Copies) Add(of *dedup.Source) {
	c.counters.Most = maxCopied
	if n := c.counters.Add(of.Num, ""); n.Note == "" {
		n.Note = strings.Clone(strings.ToValidUTF8(of.ID[:min(len(of.ID), 200)], ""))
	}
}

// Top returns the n most copied documents, the first of equals first.
func (c *Copies) Top(n int) []Copied {
	all := slices.SortedFunc(slices.Values(c.counters.All()), func(a, b *commonest.Counter[uint32, string]) int {
		return cmp.Or(cmp.Compare(b.Count-b.Over, a.Count-a.Over), cmp.Compare(a.Key, b.Key))
	})
	top := []Copied{}
	for _, k := range all[:min(n, len(all))] {
		top = append(top, Copied{k.Note, k.Count - k.Over})
	}
	return top
}

// Commonest counts the segments that kept documents repeat most. Users want to see these: menus,
// licences, mail footers.
//
// The counters are divided into parts by the order of segments, which is the same for every secret.
// The counts of a part depend only on its own segments, so goroutines can count different parts.
type Commonest struct {
	parts [CommonParts]commonest.Counters[uint64, commonNote]
}

// CommonParts is the number of parts.
const CommonParts = 8

// CommonPart returns the part of a segment, by its order.
func CommonPart(order uint64) int { return int(order % CommonParts) }

// commonNote is a segment: its order, the same for every secret, and its text.
type commonNote struct {
	order uint64
	Text  string // "" until it is likely to be shown
}

const (
	maxCounters = 256 // of each part
	quoteAt     = 8
)

// Add counts a segment by its key and order. It returns the note for its text, nil if unwanted.
func (c *Commonest) Add(key, order uint64) (wantsText *commonNote) {
	part := &c.parts[CommonPart(order)]
	part.Most = maxCounters
	n := part.Add(key, commonNote{order: order})
	if n.Count-n.Over == quoteAt {
		return &n.Note
	}
	return nil
}

// CommonSegment is a segment that many kept documents hold.
type CommonSegment struct {
	Text string `json:"text"`
	// Documents is the number of kept documents that repeated the segment after the first. It is
	// too high by at most the least counter of its part.
	Documents uint64 `json:"documents"`
}

// Top returns the n most common segments, the commonest first.
func (c *Commonest) Top(n int) []CommonSegment {
	var all []*commonest.Counter[uint64, commonNote]
	for i := range c.parts {
		for _, counter := range c.parts[i].All() {
			if counter.Note.Text != "" {
				all = append(all, counter)
			}
		}
	}
	slices.SortFunc(all, func(a, b *commonest.Counter[uint64, commonNote]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Note.order, b.Note.order))
	})
	common := []CommonSegment{}
	for _, q := range all[:min(n, len(all))] {
		common = append(common, CommonSegment{q.Note.Text, q.Count})
	}
	return common
}
