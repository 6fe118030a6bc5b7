package pipeline

import (
	"encoding/json"
	"errors"
)

// ErrUnfinished is returned by CheckCompleted for an index on which a run was interrupted.
var ErrUnfinished = errors.New("a run on it was interrupted: not all that it knows is in the outputs of that run yet; finish it first, by the same command")

// CheckCompleted refuses an index with unsettled documents, judging by the values stored in it. Such an
// index has an interrupted run that may be continued, or one whose outputs lack their names.
func CheckCompleted(value func(name string) ([]byte, error)) error {
	stored, err := value(LedgerName)
	if err != nil || len(stored) == 0 {
		return err
	}
	var e entry
	if json.Unmarshal(stored, &e) == nil && e.Gone {
		return nil // the run will not go on
	}
	return ErrUnfinished
}
