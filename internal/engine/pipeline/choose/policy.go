// Package choose decides, after a run, which of several copies stays, and writes the outputs of the
// run again: docs/design.md, "Survivors". It reads the inputs once for the values of the policy and
// once for the records.
package choose

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstseen/firstseen/internal/engine/report"
)

// Folder stands for the folder of a document's input, in place of a field.
const Folder = "folder"

// Policy says which copy stays. The zero value is none. Prefer and Within set it.
type Policy struct {
	Field string // field with the preference; Folder for the folder; "" for none
	By    string // newest, oldest or longest; "" if the order of values counts
	// A copy stays in each folder, or for each value of the field Batch. Without both, one of all stays.
	InFolder bool
	Batch    string

	order []string // values, the preferred first; nil if By is set
	met   []bool   // for each of order, whether a copy has it
}

// Given reports whether there is a policy.
func (p *Policy) Given() bool { return p.Field != "" || p.InFolder || p.Batch != "" }

// Prefer sets the preference: FIELD=VALUE,VALUE or FIELD=newest, oldest or longest.
func (p *Policy) Prefer(text string) error {
	field, values, found := strings.Cut(text, "=")
	if !found || field == "" || values == "" {
		return errors.New("want FIELD=VALUE,VALUE, or FIELD=newest, oldest or longest")
	}
	p.Field = field
	if slices.Contains([]string{"newest", "oldest", "longest"}, values) {
		p.By = values
		return nil
	}
	p.order = strings.Split(values, ",")
	p.met = make([]bool, len(p.order))
	return nil
}

// Within sets the group in which copies are removed: folder, or batch=FIELD.
func (p *Policy) Within(text string) error {
	field, batch := strings.CutPrefix(text, "batch=")
	p.InFolder, p.Batch = text == Folder, ""
	if batch {
		p.Batch = field
	}
	if !p.InFolder && p.Batch == "" {
		return errors.New("want folder, or batch=FIELD")
	}
	return nil
}

// Fields returns the fields to read for the policy: one of a time, and two of texts. "" is none.
func (p *Policy) Fields() (when, rank, batch string) {
	switch {
	case p.By == "newest" || p.By == "oldest":
		when = p.Field
	case p.Field != Folder:
		rank = p.Field
	}
	return when, rank, p.Batch
}

// Rank returns the rank of a document; the lowest is preferred. Missing values are nil and zero.
func (p *Policy) Rank(file string, value []byte, made time.Time) int64 {
	switch {
	case p.Field == Folder:
		dir := filepath.Dir(file) // named by its path as in the report, or by its last element
		return p.place(func(name string) bool { return filepath.Clean(name) == dir || name == filepath.Base(dir) })
	case p.By == "newest" && !made.IsZero():
		return -made.Unix()
	case p.By == "oldest" && !made.IsZero():
		return made.Unix()
	case p.By == "longest" && value != nil:
		return -int64(len(value))
	case p.By == "" && p.Field != "" && value != nil:
		return p.place(func(name string) bool { return name == string(value) })
	}
	return report.LastRank
}

func (p *Policy) place(is func(string) bool) int64 {
	i := slices.IndexFunc(p.order, is)
	if i < 0 {
		return report.LastRank
	}
	p.met[i] = true
	return int64(i)
}

// Unmet returns the preferred values that no ranked document has had: they may be mistyped.
func (p *Policy) Unmet() (values []string) {
	for i, value := range p.order {
		if !p.met[i] {
			values = append(values, value)
		}
	}
	return values
}

// GroupOf returns the group of a document, or "" if all are one group.
func (p *Policy) GroupOf(file string, value []byte) string {
	if p.InFolder {
		return filepath.Dir(file)
	}
	return string(value)
}
