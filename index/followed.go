package index

import (
	"errors"
	"fmt"
)

// FollowedName is the owner's value of an index that follows a log; docs/format.md, "A log".
const FollowedName = "followed"

// ErrFollowed is returned for an index whose documents come from a log alone.
var ErrFollowed = errors.New("the index follows a log, and a change beside the log would part it from the other followers")

// unfollowed refuses an index that follows a log.
func (x *Index) unfollowed() error {
	value, err := x.Value(FollowedName)
	if err != nil || value == nil {
		return err
	}
	return fmt.Errorf("index %s: %w; give documents to firstseen serve --log, or give another index", x.dir, ErrFollowed)
}
