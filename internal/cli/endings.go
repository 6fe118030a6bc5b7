package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// holds is the kind of content of a file, with the usual ending of its name.
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

// endings are those of names that promise a kind of content. Any other promises nothing.
var endings = map[string]holds{}

func init() {
	for kind, list := range map[holds]string{
		holdsJSON: ".jsonl .ndjson .json", holdsCSV: ".csv .tsv", holdsParquet: ".parquet .parq",
		holdsWARC: ".warc .wet .wat", holdsHTML: ".html .htm .xhtml",
		// .gz and .zst are written, behind an ending not listed here.
		unwritten: ".gz .zst .bz2 .xz .lz4 .br .7z .zip .tar .tgz .tbz .tbz2 .txz .tzst .arc .wacz .arrow .feather .orc .avro .xlsx .pdf",
	} {
		for ending := range strings.FieldsSeq(list) {
			endings[ending] = kind
		}
	}
}

// promised returns the ending of a name that promises a kind of content, without that of a
// compression.
func promised(name string) (ending string, packed bool) {
	name, packing := output.CutPacking(filepath.Base(name))
	return strings.ToLower(filepath.Ext(name)), packing != ""
}

// isTable reports whether a report of a name is one of Parquet.
func isTable(report string) bool {
	ending, _ := promised(report)
	return endings[ending] == holdsParquet
}

// checkEnding refuses an output if its name promises other content than it will hold; kinds are the
// possible contents.
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
		return fmt.Errorf("%s %s: the name ends in %s, and what is written is %s: end it in %s%s", flag, name, ending, strings.Join(words, " or "), strings.Join(usual, " or "), pack)
	case packed && whole:
		return fmt.Errorf("%s %s: the name ends in that of a compression, and %s is not compressed as a whole: end it in %s", flag, name, words[len(words)-1], usual[len(usual)-1])
	}
	return nil
}

// checkEndings refuses outputs if their names promise other content than they will hold, whatever
// the inputs are.
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

// checkOut refuses the name of an output of records of a format: they are written as they
// came.
func checkOut(name string, format corpus.Format) error {
	kind, ok := endings[format.Endings()[0]]
	if !ok {
		kind = holdsText
	}
	if kind == unwritten {
		return nil // reported elsewhere
	}
	if err := checkEnding("--out", name, kind); err != nil {
		return usageError{fmt.Errorf("%w; the records of the inputs, %s, are written as they came", err, format.Name())}
	}
	return nil
}

// checkSeparator refuses a table if its name stands for another separator than its first row has.
func checkSeparator(name string, head []byte) error {
	ending, _ := promised(name)
	tabs, others := bytes.ContainsRune(head, '\t'), bytes.ContainsAny(head, ",;|")
	if ending == ".tsv" && others && !tabs || ending == ".csv" && tabs && !others {
		return usageError{fmt.Errorf("--out %s: rows are written as they came, and their separator is not that of %s: end the name in %s", name, ending, map[bool]string{true: ".tsv", false: ".csv"}[tabs])}
	}
	return nil
}
