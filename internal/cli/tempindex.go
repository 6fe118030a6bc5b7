package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/index"
)

// tempPrefix begins the name of a temporary index.
const tempPrefix = "firstseen-"

// tempVariable returns the environment variable that names the folder of temporary files.
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

// filterShape returns the size of the filter, zero for the usual one. A temporary index that may
// grow has a smaller one if the inputs cannot have that many keys, because the whole filter is zeroed.
// A text has at most one key in 16 bytes and is packed to an eighth at best. So the disk holds at
// most one key in two bytes; for more, the filter grows.
func (f *options) filterShape() bloomstore.Shape {
	if f.index != "" || f.filterOnly || f.OnFull != index.OnFullGrow || f.shape != (bloomstore.Shape{}) {
		return f.shape
	}
	var bytes int64
	for _, in := range f.Inputs {
		if in.Size < 0 || in.Path == input.Stdin {
			return f.shape
		}
		bytes += in.Size
	}
	usual := index.ShapeFor(index.DefaultDocs, f.Scheme, false)
	return bloomstore.ForItems(min(max(uint64(bytes)/2, leastTempKeys), usual.Capacity()))
}

// leastTempKeys take a filter of 128 KiB.
const leastTempKeys = 1 << 16

// sweepTempIndexes removes the temporary indexes left in dir by killed runs. A folder that cannot
// be removed, or is not certainly such an index, stays: tidying up is no reason for a run to fail.
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
