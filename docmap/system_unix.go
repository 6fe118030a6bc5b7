//go:build unix

package docmap

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addressSpace returns the initial size of bbolt's mapping: 64 GiB, which costs nothing. A file
// that fits is never remapped as it grows. Under a lower limit (ulimit -v), it is a quarter of the
// largest possible size: other memory needs the rest. On 32-bit systems it is 0.
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

// willNeed asks the system to read ahead the mapped bytes b. Because bbolt maps its file for random
// access, a scan would otherwise wait for every page.
func willNeed(b []byte) {
	if len(b) == 0 {
		return
	}
	// The address must be page-aligned.
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(unix.Getpagesize()-1))
	if skip < len(b) {
		_ = unix.Madvise(b[skip:], unix.MADV_WILLNEED) // advice only
	}
}
