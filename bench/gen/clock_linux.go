package gen

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// clock measures the CPU time of the goroutine, and locks it to its thread meanwhile.
type clock struct{ start int64 }

func startClock() clock {
	runtime.LockOSThread()
	return clock{threadTime()}
}

func (c clock) stop() int64 {
	defer runtime.UnlockOSThread()
	return threadTime() - c.start
}

func threadTime() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
