package cli

import (
	"time"

	"github.com/firstseen/firstseen/feature"
)

// settings are the flags as they were given, those of all commands: each command
// registers the ones it has. A check makes real values of them, and nothing behind it
// sees a flag.
type settings struct {
	index string

	// The filter and what goes into it.
	docs, memory, onFull string
	scheme               feature.Scheme
	keyed, unkeyed       bool
	filterOnly           bool

	// What a copy is.
	method         methodFlags
	confirm        confirmFlags
	threshold      float64
	score, mosaics string

	// What is read.
	reading
	limits limitFlags
	taking taking
	further
	derived
	window windowFlags
	maxBad int64
	plain  bool // query: an input is one text
	ids    bool // query: an argument is an id

	// What is written.
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
