package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// openAgainst opens the further indexes.
func (t *task) openAgainst() (err error) {
	if len(t.options.against) == 0 {
		return nil
	}
	if t.against, err = index.OpenAgainst(t.options.against, pipeline.CheckCompleted); err != nil {
		return err
	}
	if err = t.checkAgainst(); err != nil {
		return errors.Join(err, t.against.Close())
	}
	keyed := t.against.Scheme().Key != nil
	switch { // a new index must be comparable with them
	case !keyed && t.keyed == index.KeyNew:
		t.keyed = index.KeyAsIs
	case keyed && t.keyed == index.KeyAsIs:
		t.keyed = index.KeyNew
	}
	t.Against = t.against.IDs()
	if t.Temporary {
		t.Scheme.Key = t.against.Scheme().Key
	}
	return nil
}

// checkAgainst refuses senseless combinations.
func (t *task) checkAgainst() error {
	keyed := t.against.Scheme().Key != nil
	switch {
	case t.index != "" && t.against.Has(t.index):
		return usageError{fmt.Errorf("%s is given as --index and as --against: the documents of --index count as earlier anyway", t.index)}
	case !keyed && t.keyed == index.KeyRequired:
		return usageError{errors.New("the indexes of --against were made without a key, and fingerprints with one compare with none of theirs; leave out --key")}
	case keyed && t.keyed == index.KeyRefused:
		return usageError{errors.New("the indexes of --against are keyed with a secret, which a new --index takes over; leave out --no-key")}
	}
	for _, dir := range t.options.against {
		if err := output.CheckOutputs(nil, dir, append(t.derived.names(), t.Out, t.Report, t.Rejects, t.summary)...); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// tellAgainst reports the contents and the memory of the further indexes.
func (t *task) tellAgainst(stderr io.Writer) {
	if t.against != nil {
		fmt.Fprintf(stderr, "firstseen: against %d documents of %d further indexes, whose filters take %s more\n",
			t.against.Documents(), len(t.options.against), sizeText(t.against.Bytes()))
	}
}
