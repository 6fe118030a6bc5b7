//go:build unix

package cli

import (
	"io/fs"
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

// ours reports whether a directory is this user's and closed to others, as
// temporary ones are made: in a shared place others could have filled it with
// links.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
