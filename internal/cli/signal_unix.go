//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal makes a limit on the size of files (ulimit -f) an error
// from write, as a full disk is, and not the end of the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

// endSignals are those that end a run in good order. A terminal that is closed is
// one of them, but not under nohup, which has the program ignore it.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
