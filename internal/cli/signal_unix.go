//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal turns a limit on the size of files (ulimit -f) into an error from write, as
// for a full disk. Otherwise the limit would end the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

// endSignals returns the signals that end a run in good order. Closing the terminal sends one, but
// nohup makes the program ignore that one.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
