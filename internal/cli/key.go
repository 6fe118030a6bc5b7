package cli

import (
	"errors"
	"os"

	"github.com/firstseen/firstseen/index"
)

// taskKey reads --key and --no-key. A run that can be repeated byte for byte has
// no secret unless it is demanded.
func (f *settings) taskKey(p *task) error {
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
