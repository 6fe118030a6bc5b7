package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData brings the data and the length of a file to disk, but not its times.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
