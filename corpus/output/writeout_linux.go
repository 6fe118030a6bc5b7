package output

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeOut has the system begin to write what is in the file from byte from to byte to,
// as far as these are whole pages, and does not wait for it. So Sync finds little left to
// wait for: of itself the system begins half a minute later, or when memory runs short.
// What fails is told by Sync.
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
