package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/nested"
)

// recordsFlag is the path to documents inside larger values of JSON; "" for none.
type recordsFlag string

func (f *recordsFlag) register(fs *pflag.FlagSet) {
	fs.StringVar((*string)(f), "records", "", "of JSON: documents are what this path leads to in each line, such as data.cards.*.mblog, where * is every value of an array or object; fields are looked for in them")
}

// path checks the flag, for inputs of a format.
func (f recordsFlag) path(format string) (jsonl.Path, error) {
	switch {
	case f == "":
		return nil, nil
	case format != "auto" && format != "jsonl" && format != "array":
		return nil, errors.New("--records leads into JSON: leave --format out, or give jsonl or array")
	}
	path, err := jsonl.ParsePath(string(f))
	if err != nil {
		return nil, fmt.Errorf("--records %w", err)
	}
	return path, nil
}

// text returns the flag's value for the ledger of a run.
func (f recordsFlag) text() string {
	if f == "" {
		return ""
	}
	return fmt.Sprintf(" records %q", string(f))
}

// nested returns the format of inputs with records inside values, and those that are recognized by
// content.
func (f formats) nested() (format corpus.Format, others []corpus.Format) {
	of := func(values nested.Values) nested.Format {
		return nested.Format{Format: jsonarray.Format{Fields: f.jsonl.Fields}, Path: f.path, Values: values}
	}
	switch f.chosen {
	case "jsonl":
		return of(nested.Lines), nil
	case "array":
		return of(nested.Array), nil
	}
	return of(nested.Lines), []corpus.Format{of(nested.Stream), of(nested.Array), of(nested.Lines)}
}
