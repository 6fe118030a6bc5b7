package pipeline

import (
	"encoding/json"
	"errors"
)

// ErrUnfinished is returned by CheckOver for an index on which a run was interrupted.
var ErrUnfinished = errors.New("a run on it was interrupted: not all that it knows is in the outputs of that run yet; finish it first, by the same command")

// CheckOver refuses an index whose documents are not settled, by the values that are
// stored in it: a run on it was interrupted that may be continued, or whose outputs have
// not got their names.
func CheckOver(value func(name string) ([]byte, error)) error {
	stored, err := value(LedgerName)
	if err != nil || len(stored) == 0 {
		return err
	}
	var e entry
	if json.Unmarshal(stored, &e) == nil && e.Gone {
		return nil // nothing more will come of it
	}
	return ErrUnfinished
}
