package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/report"
	"github.com/firstseen/firstseen/internal/report/derive"
)

// folderWord stands for the folder of a document's input in --prefer and --remove-within.
const folderWord = "folder"

// policy selects the copy that stays: survivors.
type policy struct {
	field  string   // field of --prefer; folderWord for the folder; "" for none
	order  []string // values, the preferred first; nil if by is set
	met    []bool   // for each of order, whether a copy has it
	by     string   // newest, oldest or longest
	folder bool     // a survivor in each folder
	batch  string   // or a survivor for each value of this field
}

func (p *policy) register(fs *pflag.FlagSet) {
	prefer := func(text string) error {
		field, values, found := strings.Cut(text, "=")
		if !found || field == "" || values == "" {
			return want("FIELD=VALUE,VALUE, or FIELD=newest, oldest or longest")
		}
		p.field = field
		if slices.Contains([]string{"newest", "oldest", "longest"}, values) {
			p.by = values
		} else {
			p.order = strings.Split(values, ",")
			p.met = make([]bool, len(p.order))
		}
		return nil
	}
	within := func(text string) error {
		field, found := strings.CutPrefix(text, "batch=")
		p.folder, p.batch = text == folderWord, field
		if p.folder {
			p.batch = ""
		} else if !found || field == "" {
			return want("folder, or batch=FIELD")
		}
		return nil
	}
	readBy(fs, prefer, "prefer", "", "which of several copies stays, decided after the run: FIELD=curated,crawled (the first of these values), folder=a,b, or FIELD=newest, oldest or longest; copies of one rank: the earliest")
	readBy(fs, within, "remove-within", "", "remove copies inside of a folder or a batch=FIELD (the documents of one value); a copy of another one is kept and marked in the report")
}

func (p *policy) given() bool { return p.field != "" || p.folder || p.batch != "" }

// needs returns the fields to read for the policy: one of a time, and two of texts. "" is none.
func (p *policy) needs() (when, rank, batch string) {
	switch {
	case p.by == "newest" || p.by == "oldest":
		when = p.field
	case p.field != folderWord:
		rank = p.field
	}
	return when, rank, p.batch
}

// checkPolicy refuses options that a choice after the run cannot honour.
func (f *options) checkPolicy() error {
	if !f.policy.given() {
		return nil
	}
	derives, _ := f.derived.reads()
	return meaning([]conflict{
		{f.policy.field == folderWord && f.policy.by != "", "--prefer folder=" + f.policy.by + ": want the names of folders, the preferred first"},
		{f.index != "" || len(f.against) > 0, "--prefer and --remove-within choose among the documents of one run: leave out --index and --against, whose documents are in outputs of other runs"},
		{f.filterOnly, "--prefer and --remove-within need the side table, and --filter-only has none"},
		{f.outDir != "" || f.Annotate, "--prefer and --remove-within write one --out FILE of kept records: leave out --out-dir and --annotate"},
		{f.sameID == "replace", "--same-id replace and --prefer both choose which document stays: give one"},
		{f.Scheme.Passages > 0, "--passages are those of the documents kept first: leave out --prefer and --remove-within"},
		{isTable(f.Report), "--prefer and --remove-within write a report in lines of JSON: give --report another name"},
		{derives, "with --prefer and --remove-within, make clusters, pairs and lists afterwards with firstseen report"},
		{f.formats.warc.Revisit.Write, "--format warc:revisit refers to a document that --prefer may remove: leave one of them out"},
	})
}

// checkPolicyInputs refuses inputs that cannot be read again, or lack the field.
func (f *options) checkPolicyInputs() error {
	if !f.policy.given() {
		return nil
	}
	if f.ReadsPipe() {
		return usageError{errors.New("--prefer and --remove-within read the inputs again, and one of them is a pipe: give files")}
	}
	when, rank, batch := f.policy.needs()
	missing := cmp.Or(when, rank, batch)
	switch f.found.(type) {
	case nil, jsonl.Format, jsonarray.Format, csv.Format:
		missing = ""
	case parquet.Format:
		missing = when
	case warc.Format:
		missing = cmp.Or(rank, batch)
	}
	if missing == "" {
		return derive.CheckNames(f.Inputs)
	}
	return usageError{fmt.Errorf("%s has no field %s that firstseen reads: --prefer folder=A,B and --remove-within folder need none", f.found.Name(), cmp.Or(when, rank, batch))}
}

// rankOf returns the rank of a document; the lowest is preferred. Missing values are nil and zero.
func (p *policy) rankOf(file string, value []byte, made time.Time) int64 {
	switch {
	case p.field == folderWord:
		dir := filepath.Dir(file) // named by its path as in the report, or by its last element
		return p.rankIn(func(name string) bool { return filepath.Clean(name) == dir || name == filepath.Base(dir) })
	case p.by == "newest" && !made.IsZero():
		return -made.Unix()
	case p.by == "oldest" && !made.IsZero():
		return made.Unix()
	case p.by == "longest" && value != nil:
		return -int64(len(value))
	case p.by == "" && p.field != "" && value != nil:
		return p.rankIn(func(name string) bool { return name == string(value) })
	}
	return report.LastRank
}

func (p *policy) rankIn(is func(string) bool) int64 {
	i := slices.IndexFunc(p.order, is)
	if i < 0 {
		return report.LastRank
	}
	p.met[i] = true
	return int64(i)
}

// tellUnmet names the values of --prefer that no copy has: they may be mistyped.
func (p *policy) tellUnmet(stderr io.Writer) {
	for i, value := range p.order {
		if !p.met[i] {
			fmt.Fprintf(stderr, "firstseen: --prefer: no copy has the %s %q\n", p.field, value)
		}
	}
}

// groupOf returns the group of a document, or "" if all are one group.
func (p *policy) groupOf(file string, batch []byte) string {
	switch {
	case p.folder:
		return filepath.Dir(file)
	case p.batch != "":
		return string(batch)
	}
	return ""
}
