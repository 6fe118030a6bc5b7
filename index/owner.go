package index

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// signLock writes the number of this process into the lock file. It is valid while the file is
// locked.
func (x *Index) signLock() error {
	err := os.WriteFile(x.path(lockFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o666)
	if err != nil && !lockedForAll {
		return fmt.Errorf("locking the index: %w", err)
	}
	return nil
}

// owner names the process that has the lock; "" if the file cannot be read.
func (x *Index) owner() string {
	text, err := os.ReadFile(x.path(lockFile))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil || pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}
