//go:build !unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// endSignals returns the signals that end a run in good order.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// ignoreFileSizeSignal has nothing to ignore here.
func ignoreFileSizeSignal() {}

// ours is true: temporary files are in a folder of the user's own.
func ours(fs.FileInfo) bool { return true }
