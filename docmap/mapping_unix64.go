//go:build unix && (amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x)

package docmap

import "golang.org/x/sys/unix"

const (
	mostAddresses  = 1 << 36
	leastAddresses = 1 << 20
)

// addressSpace returns the length of address space that bbolt reserves for the file at first. It
// costs nothing, and a file that fits is never mapped anew while it grows. If the process may not
// have so much (ulimit -v), it is a quarter of the largest size possible: the rest is for
// everything else.
func addressSpace() int {
	for size := mostAddresses; size >= leastAddresses; size /= 2 {
		b, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			continue
		}
		_ = unix.Munmap(b)
		if size < mostAddresses {
			size /= 4
		}
		return size
	}
	return 0
}
