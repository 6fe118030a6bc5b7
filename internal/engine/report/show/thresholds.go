package show

import (
	"fmt"

	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// steps lists the thresholds of a digest.
var steps = [...]float64{.5, .6, .7, .8, .9}

// perStep is the most pairs shown of a step.
const perStep = 3

// Step is a threshold that a run could have, and what it would remove.
type Step struct {
	Threshold float64 `json:"threshold"`
	Removed   int64   `json:"removed"` // duplicates that reach it
	// AtLeast is set if no pair of the report is below the threshold. The run may then have had a
	// higher one, and this one would remove more.
	AtLeast bool `json:"at_least,omitempty"`
	// Weakest are the pairs with the least scores from this threshold to the next.
	Weakest []Example `json:"weakest"`
}

func stepKind(i int) string { return fmt.Sprint("step ", i) }

// step counts a duplicate for the thresholds that its score reaches.
func (c *Collector) step(l *lines.Line) {
	score := scoreOf(l)
	for i, threshold := range steps {
		if score < threshold {
			return
		}
		c.reached[i]++
		if !l.Exact && (i == len(steps)-1 || score < steps[i+1]) {
			c.keep(stepKind(i), l, score, perStep)
		}
	}
}

// thresholds returns the steps, or nil if all copies are exact.
func (c *Collector) thresholds() (all []Step) {
	if !c.d.near {
		return nil
	}
	for i, threshold := range steps {
		step := Step{Threshold: threshold, Removed: c.reached[i], AtLeast: threshold < c.d.lowest, Weakest: []Example{}}
		for _, r := range c.examples[stepKind(i)] {
			step.Weakest = append(step.Weakest, r.Example)
		}
		all = append(all, step)
	}
	return all
}

// scoreOf returns the share that decided: of the filter, if that alone decided.
func scoreOf(l *lines.Line) float64 {
	if l.Of == nil && l.Verdict == "duplicate" {
		return float64(l.Seen)
	}
	return float64(l.Score)
}
