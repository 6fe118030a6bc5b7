package cli

import (
	"context"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// isArrayName reports whether an output of a name is to be an array of JSON if the inputs are.
func isArrayName(out string) bool {
	ending, _ := promised(out)
	return ending == ".json"
}

// lead finds the beginning of outputs, if the format has one, and refuses inputs without it. Inputs
// that come into one file must begin with the same.
func (t *task) lead() error {
	if t.found == nil {
		return nil
	}
	cfg := t.source
	cfg.Encoding = t.formats.decoder
	read := func(in input.Input) ([]byte, error) {
		return corpus.Head(context.Background(), in, t.found, cfg)
	}
	apart := t.Tree != nil && t.split.size == 0 // each input has an output
	first := ""
	for _, in := range t.Inputs {
		if in.Size < 0 || in.Path == input.Stdin {
			continue
		}
		head, err := read(in)
		if err != nil {
			return err
		}
		if t.Head == nil {
			t.Head, first = head, in.Name
		}
		together := (t.Out != "" || t.Tree != nil) && !apart
		if together && head != nil && !output.SameHead(head, t.Head) {
			return usageError{fmt.Errorf("%s and %s: %w", first, in.Name, output.ErrOtherHead)}
		}
	}
	if err := checkSeparator(t.Out, t.Head); err != nil {
		return err
	}
	switch {
	case t.Head == nil || t.Tree == nil:
	case apart:
		t.Tree.Head = func(n int) ([]byte, error) { return read(t.Inputs[n]) }
	default:
		t.Tree.Head = func(int) ([]byte, error) { return t.Head, nil }
	}
	return nil
}
