//go:build unix

package docmap

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addressSpace returns the length of address space that bbolt reserves for the file at first: 64
// GiB, which costs nothing. A file that fits is never mapped anew while it grows. If the process
// may not have so much (ulimit -v), it is a quarter of the largest size possible: the rest is for
// everything else. It is 0 on systems with little address space.
func addressSpace() int {
	if bits.UintSize < 64 {
		return 0
	}
	const most, least = int64(1) << 36, int64(1) << 20
	for size := most; size >= least; size /= 2 {
		b, err := unix.Mmap(-1, 0, int(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			continue
		}
		_ = unix.Munmap(b)
		if size < most {
			size /= 4
		}
		return int(size)
	}
	return 0
}

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
