package cli

import (
	"errors"
	"os"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/index"
)

func (f *options) registerKey(fs *pflag.FlagSet) {
	fs.BoolVar(&f.keyed, "key", false, "fingerprints keyed with a random secret, stored in the index: the default, unless SOURCE_DATE_EPOCH is set")
	fs.BoolVar(&f.unkeyed, "no-key", false, "fingerprints without a secret, for indexes that are to be compared; an author of the input can then have chosen documents removed")
}

// taskKey reads --key and --no-key. A run that can be repeated byte for byte has
// no secret unless it is demanded.
func (f *options) taskKey(p *task) error {
	switch {
	case f.keyed && f.unkeyed:
		return errors.New("--key and --no-key are opposites: give one")
	case f.keyed:
		p.keyed = index.KeyRequired
	case f.unkeyed:
		p.keyed = index.KeyRefused
	case os.Getenv(epochVariable) != "":
		p.keyed = index.KeyAsIs
	default:
		p.keyed = index.KeyNew
	}
	return nil
}
