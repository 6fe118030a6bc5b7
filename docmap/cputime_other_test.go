//go:build !unix

package docmap

import "time"

func cpuTime() time.Duration { return 0 }
