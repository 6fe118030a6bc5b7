//go:build (linux || darwin || freebsd || netbsd || openbsd) && (amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x)

package docmap

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// canShare: on these systems bbolt locks by flock, and there is address space.
const canShare = true

func lockShared(f *os.File) error { return flock(f, unix.LOCK_SH) }
func lock(f *os.File) error       { return flock(f, unix.LOCK_EX) }
func unlock(f *os.File) error     { return flock(f, unix.LOCK_UN) }

// tryLock takes a lock unless another process has one.
func tryLock(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
