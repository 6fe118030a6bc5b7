package hugemem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on amd64 and arm64 with 4 KiB pages.
const hugePage = 2 << 20

func reserve(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	switch {
	case err != nil || n < hugePage:
	case collapses(b):
		_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) // some systems give huge pages without advice
	default:
		advise(b)
	}
	return b, err
}

// collapses reports whether the kernel can collapse pages: since Linux 6.1. It checks the advice before
// the length, which is 0 here. Without collapse, only a background task would gather small pages.
func collapses(b []byte) bool {
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, uintptr(unsafe.Pointer(&b[0])), 0, unix.MADV_COLLAPSE)
	return errno == 0
}

// advise is advice only: a kernel without huge pages refuses it, and the block is merely slower.
func advise(b []byte) {
	if len(b) >= hugePage {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

// collapse fails before Linux 6.1, where reserve asks for huge pages.
func collapse(b []byte) {
	if len(b) >= hugePage {
		_ = unix.Madvise(b, unix.MADV_COLLAPSE)
	}
}

// Machine returns the machine's memory in bytes, including swap, or 0 if unknown.
func Machine() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return (uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit)
}

func release(b []byte) error { return unix.Munmap(b) }
