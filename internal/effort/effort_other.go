//go:build !unix

package effort

import "time"

var begun = time.Now()

// CPU is the time since the process began: that of its processors is not known here.
func CPU() time.Duration { return time.Since(begun) }
