//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal turns a file size limit (ulimit -f) into a write error, like a full disk.
// Otherwise the limit would end the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }
