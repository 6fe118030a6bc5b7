//go:build !linux

package gen

import "time"

// clock measures elapsed time.
type clock struct{ start time.Time }

func startClock() clock { return clock{time.Now()} }

func (c clock) stop() int64 { return int64(time.Since(c.start)) }
