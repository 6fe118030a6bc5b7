package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/firstseen/firstseen/index"
)

// tempPrefix begins the name of a temporary index.
const tempPrefix = "firstseen-"

// tempVariable is the environment variable that says where temporary files go.
func tempVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// makeTempIndex makes the directory of a temporary index.
func makeTempIndex() (string, error) {
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return "", fmt.Errorf("making a temporary index (set %s to have it elsewhere): %w", tempVariable(), err)
	}
	return dir, nil
}

// sweepTempIndexes removes the temporary indexes in dir that killed runs have
// left. What cannot be removed, or is no such thing for certain, stays: to tidy
// up is no reason for a run to fail.
func sweepTempIndexes(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && ours(info) {
			_, _ = index.RemoveLeftIndex(filepath.Join(dir, e.Name()))
		}
	}
}
