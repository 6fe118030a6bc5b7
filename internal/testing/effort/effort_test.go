package effort

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// complaint is a testing.TB that records errors.
type complaint struct {
	testing.TB
	said string
}

func (c *complaint) Helper()                   {}
func (c *complaint) Errorf(f string, a ...any) { c.said = fmt.Sprintf(f, a...) }

// spend uses the processor for a duration.
func spend(d time.Duration) {
	for end := CPU() + d; CPU() < end; {
	}
}

const unit = time.Millisecond / 2

// TestLinear checks that quadratic work is reported. Linear work and a single slow try are not.
func TestLinear(t *testing.T) {
	slow := 0
	for what, c := range map[string]struct {
		work func(n int) time.Duration
		want bool
	}{
		"linear": {func(n int) time.Duration { return time.Duration(n) * unit }, true},
		"square": {func(n int) time.Duration { return time.Duration(n*n) * unit }, false},
		"slow once": {func(n int) time.Duration {
			if slow++; slow == 3 {
				return 120 * time.Millisecond
			}
			return time.Duration(n) * unit
		}, true},
	} {
		got := &complaint{TB: t}
		Linear(got, what, 1, func(n int) func() { return func() { spend(c.work(n)) } })
		if (got.said == "") != c.want || !c.want && !strings.Contains(got.said, "16 times as many") {
			t.Errorf("%s: said %q", what, got.said)
		}
	}
}
