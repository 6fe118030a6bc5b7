package follow

import (
	"math"
	"slices"

	"github.com/firstseen/firstseen/internal/engine/apply"
)

// confirming is the number of different seconds, all ahead of the clock, that move it.
const confirming = 8

// clock is the clock of a log with a window; see rule 17 in docs/design.md. The documents before a
// document alone determine it, so all followers agree. Its JSON form is a contract.
type clock struct {
	Time  int64   `json:"clock,omitempty"` // Unix seconds
	Ahead []int64 `json:"ahead,omitempty"` // different times of the last documents, if all were ahead
}

// arrive moves the clock to the arrival of a document. If that is ahead, it replaces it, and
// returns true. window is in seconds, and not 0. A checkpoint just before the document already has
// this clock, so a second call for the same document changes nothing.
func (c *clock) arrive(s *apply.Step, window uint32) bool {
	at := min(max(s.Time/1e9, 0), math.MaxUint32)
	step := max(int64(min(window/8, 24*60*60)), 1)
	if !s.Stamped && at > c.Time+step {
		if !slices.Contains(c.Ahead, at) {
			c.Ahead = append(c.Ahead, at)
		}
		if len(c.Ahead) == confirming {
			c.Time, c.Ahead = slices.Min(c.Ahead), c.Ahead[1:]
		}
		if at > c.Time+step {
			s.Time = c.Time * 1e9
			return true
		}
	}
	c.Time, c.Ahead = max(c.Time, at), nil
	return false
}
