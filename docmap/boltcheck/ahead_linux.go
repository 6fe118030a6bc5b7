package boltcheck

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// willNeed asks the system to read a page ahead. The pages of a walk are scattered over the file, and
// a disk that reads one after the other takes ten times as long.
func willNeed(f io.ReaderAt, page uint64) {
	if file, ok := f.(*os.File); ok {
		_ = unix.Fadvise(int(file.Fd()), int64(page)*PageSize, PageSize, unix.FADV_WILLNEED) // advice only
	}
}
