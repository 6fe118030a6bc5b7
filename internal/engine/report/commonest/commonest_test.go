package commonest

import (
	"fmt"
	"testing"
)

// TestCounterIsTakenOver checks that a new key takes over the counter with the least count and
// continues from it. The old note goes with the old key.
func TestCounterIsTakenOver(t *testing.T) {
	const most = 256
	c := Counters[uint64, string]{Most: most}
	for key := range uint64(most) {
		for range 10 + (key+100)%most {
			c.Add(key, fmt.Sprint(key))
		}
	}
	const least = most - 100
	if n := c.heap[0]; n.Key != least || n.Count != 10 || n.Over != 0 || n.Note == "" {
		t.Fatalf("%+v has the least count", n)
	}
	c.Add(1000, "")
	if n := c.byKey[1000]; n == nil || n.Count != 11 || n.Over != 10 || n.Note != "" || c.byKey[least] != nil {
		t.Errorf("%+v, and the one before: %+v", n, c.byKey[least])
	}
	for key := range uint64(5000) {
		c.Add(2000+key, "")
		for _, n := range c.heap {
			if n.Count < c.heap[0].Count {
				t.Fatalf("%+v is taken over next, and there is %+v", c.heap[0], n)
			}
		}
	}
}
