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
func (f *options) openAgainst() (err error) {
	if len(f.against) == 0 {
		return nil
	}
	if f.further, err = index.OpenAgainst(f.against, pipeline.CheckCompleted); err != nil {
		return err
	}
	if err = f.checkAgainst(); err != nil {
		return errors.Join(err, f.further.Close())
	}
	keyed := f.further.Scheme().Key != nil
	switch { // a new index must be comparable with them
	case !keyed && f.key == index.KeyNew:
		f.key = index.KeyAsIs
	case keyed && f.key == index.KeyAsIs:
		f.key = index.KeyNew
	}
	f.Against = f.further.IDs()
	if f.Temporary {
		f.Scheme.Key = f.further.Scheme().Key
	}
	return nil
}

// checkAgainst refuses senseless combinations.
func (f *options) checkAgainst() error {
	keyed := f.further.Scheme().Key != nil
	switch {
	case f.index != "" && f.further.Has(f.index):
		return usageError{fmt.Errorf("%s is given as --index and as --against: the documents of --index count as earlier anyway", f.index)}
	case !keyed && f.key == index.KeyRequired:
		return usageError{errors.New("the indexes of --against were made without a key, and fingerprints with one compare with none of theirs; leave out --key")}
	case keyed && f.key == index.KeyRefused:
		return usageError{errors.New("the indexes of --against are keyed with a secret, which a new --index takes over; leave out --no-key")}
	}
	for _, dir := range f.against {
		if err := output.CheckOutputs(nil, dir, append(f.derived.names(), f.Out, f.Report, f.Rejects, f.summary)...); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// tellAgainst reports the contents and the memory of the further indexes.
func (f *options) tellAgainst(stderr io.Writer) {
	if f.further != nil {
		fmt.Fprintf(stderr, "firstseen: against %d documents of %d further indexes, whose filters take %s more\n",
			f.further.Documents(), len(f.against), sizeText(f.further.Bytes()))
	}
}
