//go:build unix

package docmap

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is what the process has used of all processors: what a benchmark
// means on a machine that is not its own.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
