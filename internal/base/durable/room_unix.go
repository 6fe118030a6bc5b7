//go:build linux || darwin

package durable

import "golang.org/x/sys/unix"

// Room returns the number of bytes that this process may still write to the disk of a folder.
func Room(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}
