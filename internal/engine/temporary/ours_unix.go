//go:build unix

package temporary

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a directory belongs to this user and is closed to others, like temporary
// ones. In a shared place, others could have filled it with links.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
