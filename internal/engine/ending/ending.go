// Package ending maps the ends of file names to formats: .jsonl has JSON, .csv has CSV.
package ending

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/output"
)

// Kind is a kind of file content, with the usual ending of its name.
type Kind struct{ name, usual string }

// Kinds of content. A file of Unwritten is never written.

var (
	JSON    = Kind{"JSON", ".jsonl"}
	CSV     = Kind{"CSV", ".csv"}
	Parquet = Kind{"Parquet", ".parquet"}
	WARC    = Kind{"WARC", ".warc"}
	HTML    = Kind{"HTML", ".html"}
	Text    = Kind{"plain text", ".txt"}
	Mails   = Kind{"mails", ".mbox"}
	Terms   = Kind{"a table of terms", ".fst"}
	Filter  = Kind{"a filter", ".bloom"}

	Rows = Kind{"binary rows", ".bin"}

	Unwritten = Kind{name: "not written"}
)

// endings maps endings of names to the content they promise. Other endings promise nothing.
var endings = map[string]Kind{}

func init() {
	for kind, list := range map[Kind]string{
		JSON: ".jsonl .ndjson .json", CSV: ".csv .tsv", Parquet: ".parquet .parq",
		WARC: ".warc .wet .wat", HTML: ".html .htm .xhtml", Mails: ".mbox .mbx",
		// .gz and .zst are written, after an ending not listed here.
		Unwritten: ".gz .zst .bz2 .xz .lz4 .br .7z .zip .tar .tgz .tbz .tbz2 .txz .tzst .arc .wacz .arrow .feather .orc .avro .xlsx .pdf",
	} {
		for ending := range strings.FieldsSeq(list) {
			endings[ending] = kind
		}
	}
}

// Of returns the ending of a name that promises content, and whether a compression follows.
func Of(name string) (ending string, packed bool) {
	name, packing := output.CutPacking(filepath.Base(name))
	return strings.ToLower(filepath.Ext(name)), packing != ""
}

// Promised returns the kind of content that a name promises, or the zero Kind.
func Promised(name string) Kind {
	ending, _ := Of(name)
	return endings[ending]
}

// Usual returns the kind of content whose names end as given, or Text.
func Usual(ending string) Kind {
	if kind, ok := endings[ending]; ok {
		return kind
	}
	return Text
}

// Check refuses an output if its name promises content other than one of kinds.
func Check(flag, name string, kinds ...Kind) error {
	ending, packed := Of(name)
	what, known := endings[ending]
	var words, usual []string
	for _, k := range kinds {
		words, usual = append(words, k.name), append(usual, k.usual)
	}
	whole := what == Parquet || kinds[0] == Parquet || kinds[0] == Terms || kinds[0] == Filter
	pack := ""
	if !whole && slices.Contains([]string{".bz2", ".xz", ".lz4"}, ending) {
		pack = fmt.Sprintf(", or in %s.zst to have it compressed", usual[0])
	}
	switch {
	case known && !slices.Contains(kinds, what):
		return fmt.Errorf("%s %s: the name ends in %s, and the output is %s: end it in %s%s", flag, name, ending, strings.Join(words, " or "), strings.Join(usual, " or "), pack)
	case packed && whole:
		return fmt.Errorf("%s %s: the name ends like that of a compressed file, and %s is not compressed as a whole: end it in %s", flag, name, words[len(words)-1], usual[len(usual)-1])
	}
	return nil
}
