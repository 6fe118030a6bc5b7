package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/pipeline"
)

// countedBy is what --by says: a field, or @file or @folder; "" for nothing.
type countedBy string

func (f *settings) registerBy(fs *pflag.FlagSet) {
	fs.StringVar(&f.by, "by", "", "count by a field too, such as lang or metadata.source, in a WARC by a header; or by @file or @folder of the inputs")
}

func (f *settings) taskBy(p *task) error {
	p.by = countedBy(f.by)
	switch p.by {
	case "", "@file", "@folder":
		return nil
	}
	if f.by[0] == '@' {
		return fmt.Errorf("--by %s: want a field, @file or @folder", f.by)
	}
	if _, err := (jsonl.Format{Fields: jsonl.Fields{ID: f.by}}).NewParser(""); err != nil {
		return fmt.Errorf("--by %s: %w", f.by, err)
	}
	return nil
}

// check refuses a field of inputs that have none to count by.
func (b countedBy) check(found corpus.Format) error {
	by := b.of()
	if found == nil || by == nil || by.Format == nil || by.Format(found) != nil {
		return nil
	}
	return usageError{fmt.Errorf("--by %s: the inputs are %s, of which no field can be counted by: use @file or @folder", b, found.Name())}
}

func (b countedBy) name() string { return string(b) }

// of is what the pipeline counts by, nil for nothing.
func (b countedBy) of() *pipeline.By {
	switch b {
	case "":
		return nil
	case "@file", "@folder":
		return &pipeline.By{Field: string(b), Folder: b == "@folder"}
	}
	return &pipeline.By{Field: string(b), Format: func(f corpus.Format) corpus.Format {
		switch f := f.(type) {
		case jsonl.Format:
			f.Fields.ID = string(b)
			return f
		case jsonarray.Format:
			f.Fields.ID = string(b)
			return f
		case warc.Format:
			f.IDField = string(b)
			return f
		}
		return nil
	}}
}
