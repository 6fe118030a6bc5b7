package derive

import (
	"context"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// KeptFiles calls f, in order, for every input whose documents were all kept, or with others for
// every one whose documents were all removed. If each input is one document, these are the kept or
// the removed files. An input without documents is neither, nor is one with a bad record.
func KeptFiles(ctx context.Context, source *corpus.Source, inputs []input.Input, report *lines.Reports, others bool, f func(input int) error) error {
	at, documents, wanted := -1, 0, true
	settle := func() error {
		if at < 0 || documents == 0 || !wanted {
			return nil
		}
		return f(at)
	}
	err := Each(ctx, source, len(inputs), report, func(input int) error {
		err := settle()
		at, documents, wanted = input, 0, true
		return err
	}, func(doc *corpus.Document, line *lines.Line) error {
		documents++
		removed := line != nil && !line.Kept
		wanted = wanted && doc.Bad == nil && removed == others
		return nil
	})
	if err != nil {
		return err
	}
	return settle()
}
