package cli

import (
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/index"
)

// conflict is a combination of flags that means nothing, and whether it was given.
type conflict struct {
	is   bool
	says string
}

func meaning(conflicts []conflict) error {
	for _, c := range conflicts {
		if c.is {
			return errors.New(c.says)
		}
	}
	return nil
}

// checkConflicts refuses the flags that conflict whatever the inputs are.
func (f *options) checkConflicts() error {
	revisit, windowed, byTime := f.formats.warc.Revisit, f.Window.Seconds > 0, f.formats.jsonl.Fields.Time != ""
	derives, _ := f.derived.reads()
	direct := 0
	for _, name := range []string{f.Out, f.Report, f.Rejects, f.summary} {
		if name == input.Stdin {
			direct++
		}
	}
	return meaning([]conflict{
		{!revisit.Write && revisit.Keep, "--format warc:near is about records that no revisit record can stand for: give warc:revisit,near=keep"},
		{revisit.Write && f.Out == "", "--format warc:revisit writes to --out: give that too"},
		{revisit.Write && f.filterOnly, "--format warc:revisit needs the side table, which knows the earlier record: leave --filter-only out"},
		{f.DropRetries && !f.Annotate, "--same-id keep:again=drop is about the answers of --annotate to a pipe: without it, a document that comes again is removed as a copy"},
		{f.filterOnly && f.Batch != "", "--batch needs the side table, and --filter-only has none: a filter cannot take anything back"},
		{f.filterOnly && f.sameID == "replace", "--same-id replace needs the side table, and --filter-only has none: a filter cannot take anything back"},
		{f.Batch != "" && f.index == "", "--batch needs --index: without it nothing outlives the run"},
		{len(f.Batch) > index.MaxBatchName, "--batch: the name is too long"},
		{!windowed && byTime, "--format auto:time=FIELD is for an index with a window: make it with firstseen index create DIR --window TIME"},
		{windowed && f.filterOnly, "--window needs the side table, and --filter-only has none: a filter cannot forget"},
		{windowed && f.index == "", "--window needs --index: an index keeps the time from one run to the next"},
		{f.verify.given() && f.filterOnly, "--verify reads the earlier text again, and with --filter-only it is unknown which that is"},
		{f.verify.given() && f.Rules.RemoveMosaics, "--verify compares with one earlier text, and " + spelled("mosaics") + "=remove removes by several: give one of the two"},
		{f.Scheme.Passages == 0 && f.Rules.RemoveConsumed, spelled("consumed") + "=remove removes documents of which passages leave nothing: give --passages, too"},
		{f.Scheme.Passages > 0 && f.filterOnly, "--passages names the earlier document, and with --filter-only it is unknown which that is"},
		{f.keyed && f.unkeyed, "--key and --no-key are opposites: give one"},
		{f.docs != "" && f.memory != "", "--docs and --memory both size the filter: give one"},
		{f.OnFull == index.OnFullGrow && f.filterOnly, "--limit full=grow needs the side table to grow from; with --filter-only use stop or warn"},
		{f.Annotate && f.Out == "" && f.outDir == "", "--annotate writes to --out: give that too"},
		{direct > 1, "only one of --out, --report, --rejects and --summary can be standard output (-)"},
		{f.outDir == "" && (f.split.given || f.split.skipEmpty), "--split is about the files of --out-dir: give that too"},
		{f.outDir != "" && f.Out != "", "--out writes one file and --out-dir one for each input: give one of them"},
		{len(f.against) > 0 && f.filterOnly, "--against names documents of other indexes, which takes a side table: leave out --filter-only; an index without one cannot name them"},
		{f.Others && f.Annotate, "--annotate writes all records: leave out --keep"},
		{f.Others && revisit.Write, "--format warc:revisit writes records that stand for removed ones, and --keep duplicates writes these themselves: leave one of them out"},
		{f.Spans && f.Report == "" && f.derived.attributes == "", "--spans adds to the lines of --report: give that too"},
		{isTable(f.Report) && (f.Spans || f.Scheme.Passages > 0), "--spans and --passages report places, for which a table has no columns: give --report a name in .jsonl"},
		{derives && isTable(f.Report), "--clusters, --pairs, --attributes and --kept-files are made of a report in lines of JSON: give --report another name"},
		{derives && !isKept(f.Report), "--clusters, --pairs, --attributes and --kept-files are made of the report: give --report FILE too"},
	})
}

func noMeaning(is bool, flag, method string) conflict {
	return conflict{is, fmt.Sprintf("%s has no meaning with --method %s: leave it out", flag, method)}
}
