package docmap

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// holders names the other processes with a lock on a file, in words to append to a message; "" if
// they are unknown.
func holders(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	st := info.Sys().(*syscall.Stat_t)
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino)
	var pids []string
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK ADVISORY READ pid device:inode 0 EOF; a waiting one has -> as second field.
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != file || f[4] == strconv.Itoa(os.Getpid()) || slices.Contains(pids, f[4]) {
			continue
		}
		pids = append(pids, f[4])
	}
	switch len(pids) {
	case 0:
		return ""
	case 1:
		return " (process " + pids[0] + ")"
	}
	return " (processes " + strings.Join(pids, ", ") + ")"
}
