//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal makes a limit on the size of files (ulimit -f) an error
// from write, as a full disk is, and not the end of the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }
