//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is what this process has used of all processors, in user and system.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err) // cannot fail for the process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
