//go:build !unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// endSignals returns the signals that end a run gracefully.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// ignoreFileSizeSignal does nothing on systems without that signal.
func ignoreFileSizeSignal() {}

// ours returns true: temporary files are in the user's own folder.
func ours(fs.FileInfo) bool { return true }
