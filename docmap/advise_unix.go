//go:build unix

package docmap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// willNeed asks the system to read the mapped bytes b ahead. bbolt maps its file for random
// access, so each page is read only when it is touched; a scan of the file would wait for every
// page.
func willNeed(b []byte) {
	if len(b) == 0 {
		return
	}
	// The address must be that of a page, whatever the page size.
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(unix.Getpagesize()-1))
	if skip < len(b) {
		_ = unix.Madvise(b[skip:], unix.MADV_WILLNEED) // advice only
	}
}
