package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/corpus/warc"
)

// splitFlag divides the records of --out-dir into files.
type splitFlag struct {
	given     bool
	size      int64 // bytes of a file; 0 for a file for each input
	skipEmpty bool
}

func (f *splitFlag) register(fs *pflag.FlagSet) {
	readBy(fs, f.set, "split", "", "files of --out-dir: each (one for each input), nonempty (none for an input without kept records), or a size such as 1GiB: shard-00000 and so on, of that size before compression (default each)")
	fs.BoolVar(&f.skipEmpty, "skip-empty", false, "as --split nonempty")
	readBy(fs, f.set, "shard-size", "", "as --split")
	hide(fs, "skip-empty", "shard-size")
}

func (f *splitFlag) set(text string) error {
	f.given = true
	bytes, err := parseSize(text)
	switch {
	case text == "each":
		return nil
	case text == "nonempty":
		f.skipEmpty = true
		return nil
	case err != nil:
		return want("each, nonempty or a size such as 1GiB")
	case bytes < leastShard || bytes > mostLimit:
		return want("from 64KiB to " + sizeText(uint64(mostLimit)))
	}
	f.size = int64(bytes)
	return nil
}

// leastShard keeps a wrong unit from making millions of files.
const leastShard = 64 << 10

// planTree chooses the files to write, and refuses options that their format cannot have.
func (f *options) planTree() (err error) {
	if f.outDir == "" {
		return nil
	}
	if archive, ok := f.found.(warc.Format); ok && archive.ARC {
		return usageError{warc.ErrARC}
	}
	_, single := f.found.(page.Format)
	if f.split.size == 0 {
		f.Tree, err = output.PlanTree(f.outDir, f.Args, f.Inputs)
	} else if single {
		return usageError{errors.New("--split: each input is a file with one document, which cannot be part of another file")}
	} else {
		f.Tree, err = output.PlanShards(f.outDir, f.Inputs, f.split.size)
	}
	if err != nil {
		return err
	}
	// If the one document of a file is removed, nothing is left of the file.
	f.Tree.SkipEmpty = f.split.skipEmpty || single
	return f.Tree.Check(f.Args, f.Inputs, f.index, f.Out, f.Report, f.Rejects, f.summary)
}

// tellTreeAside reports the new place of files of an earlier run.
func tellTreeAside(stderr io.Writer, tree *output.Tree) {
	if tree == nil || len(tree.Aside()) == 0 {
		return
	}
	aside := tree.Aside()[0]
	if more := len(tree.Aside()) - 1; more > 0 {
		aside = fmt.Sprintf("%s, and %d more likewise", aside, more)
	}
	tellLeft(stderr, "files for "+tree.Dir, aside)
}

// enclose chooses how to write records, if files of their format are not just sequences of records.
func (f *options) enclose() (err error) {
	if isTable(f.Report) {
		if f.Tabled, err = parquet.Report(); err != nil {
			return err
		}
	}
	if f.found == nil || f.found.Kind() != corpus.AtRandom || f.Out == "" && f.Tree == nil {
		return nil
	}
	one := func(inputs []input.Input) (output.Enclosure, error) { return f.found.Enclose(inputs, f.Annotate) }
	switch {
	case f.Out == input.Stdin:
		return usageError{fmt.Errorf("%s cannot be written to a stream: name a file with --out", f.found.Name())}
	case f.Tree == nil:
		f.Enclosure, err = one(f.Inputs)
	case f.split.size > 0:
		var all output.Enclosure
		all, err = one(f.Inputs)
		f.Tree.Enclose = func(int) (output.Enclosure, error) { return all, nil }
	default:
		f.Tree.Enclose = func(n int) (output.Enclosure, error) { return one(f.Inputs[n : n+1]) }
	}
	return err
}

// lead finds the head of outputs, if the format has one, and refuses inputs without it. Inputs of
// one output must have the same head.
func (f *options) lead() error {
	if f.found == nil {
		return nil
	}
	cfg := f.source
	cfg.Encoding = f.formats.decoder
	read := func(in input.Input) ([]byte, error) {
		return corpus.Head(context.Background(), in, f.found, cfg)
	}
	apart := f.Tree != nil && f.split.size == 0 // each input has an output
	first := ""
	for _, in := range f.Inputs {
		if in.Size < 0 || in.Path == input.Stdin {
			continue
		}
		head, err := read(in)
		if err != nil {
			return err
		}
		if f.Head == nil {
			f.Head, first = head, in.Name
		}
		if !apart && (f.Out != "" || f.Tree != nil) && head != nil && !output.SameHead(head, f.Head) {
			return usageError{fmt.Errorf("%s and %s: %w", first, in.Name, output.ErrOtherHead)}
		}
	}
	if err := checkSeparator(f.Out, f.Head); err != nil {
		return err
	}
	switch {
	case f.Head == nil || f.Tree == nil:
	case apart:
		f.Tree.Head = func(n int) ([]byte, error) { return read(f.Inputs[n]) }
	default:
		f.Tree.Head = func(int) ([]byte, error) { return f.Head, nil }
	}
	return nil
}

// holds is a kind of file content, with the usual ending of its name.
type holds struct{ name, usual string }

var (
	holdsJSON    = holds{"JSON", ".jsonl"}
	holdsCSV     = holds{"CSV", ".csv"}
	holdsParquet = holds{"Parquet", ".parquet"}
	holdsWARC    = holds{"WARC", ".warc"}
	holdsHTML    = holds{"HTML", ".html"}
	holdsText    = holds{"plain text", ".txt"}
	holdsTerms   = holds{"a table of terms", ".fst"}
	holdsFilter  = holds{"a filter", ".bloom"}

	unwritten = holds{name: "not written"}
)

// endings maps endings of names to the content they promise. Other endings promise nothing.
var endings = map[string]holds{}

func init() {
	for kind, list := range map[holds]string{
		holdsJSON: ".jsonl .ndjson .json", holdsCSV: ".csv .tsv", holdsParquet: ".parquet .parq",
		holdsWARC: ".warc .wet .wat", holdsHTML: ".html .htm .xhtml",
		// .gz and .zst are written, after an ending not listed here.
		unwritten: ".gz .zst .bz2 .xz .lz4 .br .7z .zip .tar .tgz .tbz .tbz2 .txz .tzst .arc .wacz .arrow .feather .orc .avro .xlsx .pdf",
	} {
		for ending := range strings.FieldsSeq(list) {
			endings[ending] = kind
		}
	}
}

// promised returns the ending of a name that promises content, and whether a compression follows.
func promised(name string) (ending string, packed bool) {
	name, packing := output.CutPacking(filepath.Base(name))
	return strings.ToLower(filepath.Ext(name)), packing != ""
}

// isTable reports whether a report of that name is Parquet.
func isTable(report string) bool {
	ending, _ := promised(report)
	return endings[ending] == holdsParquet
}

// checkEnding refuses an output if its name promises content other than one of kinds.
func checkEnding(flag, name string, kinds ...holds) error {
	ending, packed := promised(name)
	what, known := endings[ending]
	var words, usual []string
	for _, k := range kinds {
		words, usual = append(words, k.name), append(usual, k.usual)
	}
	whole := what == holdsParquet || kinds[0] == holdsParquet || kinds[0] == holdsTerms || kinds[0] == holdsFilter
	pack := ""
	if !whole && slices.Contains([]string{".bz2", ".xz", ".lz4"}, ending) {
		pack = fmt.Sprintf(", or in %s.zst to have it compressed", usual[0])
	}
	switch {
	case known && !slices.Contains(kinds, what):
		return usageError{fmt.Errorf("%s %s: the name ends in %s, and the output is %s: end it in %s%s", flag, name, ending, strings.Join(words, " or "), strings.Join(usual, " or "), pack)}
	case packed && whole:
		return usageError{fmt.Errorf("%s %s: the name ends like that of a compressed file, and %s is not compressed as a whole: end it in %s", flag, name, words[len(words)-1], usual[len(usual)-1])}
	}
	return nil
}

// checkEndings refuses outputs if their names promise wrong content for any inputs.
func (f *options) checkEndings() error {
	for _, c := range []struct {
		flag, name string
		kinds      []holds
	}{
		{"--report", f.Report, []holds{holdsJSON, holdsParquet}},
		{"--rejects", f.Rejects, []holds{holdsJSON}},
		{"--summary", f.summary, []holds{holdsJSON}},
		{"--clusters", f.derived.clusters, []holds{holdsJSON, holdsCSV}},
		{"--pairs", f.derived.pairs, []holds{holdsJSON, holdsCSV}},
		{"--kept-files", f.derived.keptFiles, []holds{holdsText}},
	} {
		if err := checkEnding(c.flag, c.name, c.kinds...); err != nil {
			return err
		}
	}
	return nil
}

// checkOut refuses an output name that promises another format: records are written as they came.
func checkOut(name string, format corpus.Format) error {
	kind, ok := endings[format.Endings()[0]]
	if !ok {
		kind = holdsText
	}
	if kind == unwritten {
		return nil // reported elsewhere
	}
	if err := checkEnding("--out", name, kind); err != nil {
		return usageError{fmt.Errorf("%w; the records of the inputs, %s, are written as they came; if they have another format, name it with --format", err, format.Name())}
	}
	return nil
}

// checkSeparator refuses a table if its name promises a separator that its first row lacks.
func checkSeparator(name string, head []byte) error {
	ending, _ := promised(name)
	tabs, others := bytes.ContainsRune(head, '\t'), bytes.ContainsAny(head, ",;|")
	if ending == ".tsv" && others && !tabs || ending == ".csv" && tabs && !others {
		return usageError{fmt.Errorf("--out %s: rows are written as they came, and their separator is not that of %s: end the name in %s", name, ending, map[bool]string{true: ".tsv", false: ".csv"}[tabs])}
	}
	return nil
}
