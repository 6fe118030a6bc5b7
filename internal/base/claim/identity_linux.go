package claim

import (
	"os"

	"golang.org/x/sys/unix"
)

// Identify returns the identity of an open file.
func Identify(f *os.File) ID {
	const want = unix.STATX_INO | unix.STATX_BTIME
	var st unix.Statx_t
	if err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, want, &st); err != nil || st.Mask&want != want {
		return ID{}
	}
	return ID{Device: unix.Mkdev(st.Dev_major, st.Dev_minor), Number: st.Ino, Born: st.Btime.Sec*1e9 + int64(st.Btime.Nsec)}
}
