//go:build !unix

package effort

import "time"

var begun = time.Now()

// CPU returns the time since the process began, because its processor time is unknown here.
func CPU() time.Duration { return time.Since(begun) }
