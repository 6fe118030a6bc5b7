package cli

import (
	"time"

	"github.com/firstseen/firstseen/feature"
)

// settings are the given flags of all commands: each command registers its own. A check converts
// them to real values, and nothing behind it sees a flag.
type settings struct {
	index string

	// The filter and its keys.
	docs, memory, onFull string
	scheme               feature.Scheme
	keyed, unkeyed       bool
	filterOnly           bool

	// What counts as a copy.
	method         methodFlags
	confirm        confirmFlags
	threshold      float64
	score, mosaics string

	// Inputs.
	reading
	limits limitFlags
	taking taking
	further
	derived
	window windowFlags
	maxBad int64
	plain  bool // query: an input is one text
	ids    bool // query: an argument is an id

	// Outputs.
	out, report, rejects, summary string
	annotate, asJSON, quiet       bool
	revisit                       revisitFlags
	trees                         treeFlags

	// How the work is done.
	jobs         int
	abandon      bool
	rebuild      bool // check: the filter
	checkpoint   string
	every        time.Duration
	memtableKeys int
}
