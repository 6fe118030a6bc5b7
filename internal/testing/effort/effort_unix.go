//go:build unix

package effort

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the user and system time that this process has used on all processors.
func CPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err) // cannot fail for the process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
