//go:build unix

package docmap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// willNeed asks the system to read the mapped bytes b before they are touched.
// bbolt maps its file for random access, where each page is read when it is
// touched and not before; a scan of the file would wait for every one.
func willNeed(b []byte) {
	if len(b) == 0 {
		return
	}
	// The address has to be that of a page, whatever their size is here.
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(unix.Getpagesize()-1))
	if skip < len(b) {
		_ = unix.Madvise(b[skip:], unix.MADV_WILLNEED) // advice only
	}
}
