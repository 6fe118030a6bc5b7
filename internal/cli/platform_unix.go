//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal turns a file size limit (ulimit -f) into a write error, like a full disk.
// Otherwise the limit would end the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

// endSignals returns the signals that end a run gracefully. Closing the terminal sends SIGHUP,
// which nohup makes the program ignore.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
