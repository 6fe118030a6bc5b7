package claim

import (
	"os"
	"syscall"
)

// Identify returns the identity of an open file.
func Identify(f *os.File) ID {
	info, err := f.Stat()
	if err != nil {
		return ID{}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}
	}
	return ID{Device: uint64(st.Dev), Number: st.Ino, Born: st.Birthtimespec.Nano()}
}
