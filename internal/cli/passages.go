package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/feature"
)

// registerPassages registers the property of an index that its documents are found by their passages.
func registerPassages(fs *pflag.FlagSet, s *feature.Scheme) {
	fs.IntVar(&s.Passages, "passages", 0, fmt.Sprintf("find the passages of so many `words` or more that kept documents have in common with earlier ones, and name these, with places (%d words without a number); chosen when the index is made", feature.DefaultPassage))
	fs.Lookup("passages").NoOptDefVal = fmt.Sprint(feature.DefaultPassage)
}

// taskPassages checks --passages and --consumed, after the rules are known.
func (f *options) taskPassages(p *task) error {
	switch {
	case p.Scheme.Passages == 0 && p.Rules.RemoveConsumed:
		return errors.New("" + spelled("consumed") + "=remove removes documents of which passages leave nothing: give --passages, too")
	case p.Scheme.Passages == 0:
		return nil
	case f.filterOnly:
		return errors.New("--passages names the earlier document, and with --filter-only it is unknown which that is")
	}
	p.confirming.passages = true
	return nil
}
