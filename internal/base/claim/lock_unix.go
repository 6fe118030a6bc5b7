//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package claim

import (
	"errors"
	"os"
	"syscall"
)

func open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

// lock takes an exclusive lock on the open file, and reports whether it succeeded.
func lock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EOPNOTSUPP):
			return true, nil // the file system has no locks
		default:
			return false, err
		}
	}
}
