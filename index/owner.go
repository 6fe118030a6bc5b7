package index

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// signLock notes in the lock file whose it is. It says something only while somebody has
// the lock.
func (x *Index) signLock() error {
	err := os.WriteFile(x.path(lockFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o666)
	if err != nil && !lockedForAll {
		return fmt.Errorf("locking the index: %w", err)
	}
	return nil
}

// owner tells which process has the lock, where that can be read.
func (x *Index) owner() string {
	text, err := os.ReadFile(x.path(lockFile))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil || pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}
