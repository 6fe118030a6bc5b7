//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a directory is this user's and closed to others, as
// temporary ones are made: in a shared place others could have filled it with
// links.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
