package docmap

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSteadyTimesMoveNothing checks that a document of a steady time moves neither edge nor slice
// and is not late, after any times and windows.
func TestSteadyTimesMoveNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.Uint32Range(1, 1<<16)
		table := &Table{}
		w := &table.tombstones.win
		*w = window{length: length.Draw(t, "length"), slices: []timeSlice{{first: 1}}}
		for num := uint32(1); num < 60; num++ {
			if rapid.IntRange(0, 9).Draw(t, "another") == 0 {
				w.length = length.Draw(t, "length")
			}
			time := w.clock + rapid.Uint32Range(0, 1+w.length/16).Draw(t, "after")
			if behind := rapid.Uint32Range(0, w.length).Draw(t, "behind"); num%3 == 0 && behind < time {
				time -= behind
			}
			first, last := table.Steady()
			edge, due := w.edge, w.due
			late := table.Advance(time)
			if first <= time && time <= last {
				if w.edge != edge || w.due != due || late {
					t.Fatalf("%d is steady, from %d to %d, and the edge was %d and is %d, a slice due %v and %v, late %v", time, first, last, edge, w.edge, due, w.due, late)
				}
			}
			if w.due {
				w.slices, w.due = append(w.slices, timeSlice{first: num, begun: w.clock}), false
			}
			if !late {
				w.add(num, time)
			}
		}
	})
}
