//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// endSignals returns the signals that end a run in good order.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// ignoreFileSizeSignal has nothing to ignore here.
func ignoreFileSizeSignal() {}
