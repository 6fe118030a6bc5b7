//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// endSignals returns the signals that end a run gracefully.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// ignoreFileSizeSignal does nothing on systems without that signal.
func ignoreFileSizeSignal() {}
