package output

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeOut starts writing the whole pages between two offsets to disk, so that Sync waits less. The
// system would begin half a minute later, or when memory runs short. Sync returns the errors.
func writeOut(f outFile, from, to int64) {
	file, ok := f.(*os.File)
	if !ok {
		return
	}
	page := int64(os.Getpagesize())
	from, to = from/page*page, to/page*page
	if from >= to {
		return
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SyncFileRange(int(fd), from, to-from, unix.SYNC_FILE_RANGE_WRITE)
	})
}
