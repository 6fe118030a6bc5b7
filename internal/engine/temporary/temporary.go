// Package temporary makes folders for the index or the report of one run. The next run removes those
// of killed ones.
package temporary

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/firstseen/firstseen/index"
)

// Prefix begins the names of temporary folders. No lasting index has such a name by chance.
const Prefix = "firstseen-temporary-"

// Variable returns the environment variable that names the folder of temporary files.
func Variable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// New makes a folder for a temporary index or report. remove removes its lock last, since a
// folder without one is never swept.
func New(what string) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", Prefix)
	if err != nil {
		return "", nil, fmt.Errorf("making a temporary %s (set %s to have it elsewhere): %w", what, Variable(), err)
	}
	return dir, func() error {
		_, _ = index.RemoveLeftIndex(dir)
		return os.RemoveAll(dir)
	}, nil
}

// Sweep removes the temporary indexes and reports that killed runs left in dir. A folder
// that cannot be removed, or may not be such a one, stays: cleaning up must not fail a run.
func Sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), Prefix) {
			continue
		}
		if info, err := e.Info(); err == nil && ours(info) {
			_, _ = index.RemoveLeftIndex(filepath.Join(dir, e.Name()))
		}
	}
}
