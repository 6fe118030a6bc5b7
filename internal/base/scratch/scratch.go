// Package scratch creates temporary files that other processes cannot find. They disappear with the
// process, however it ends.
package scratch

import (
	"fmt"
	"os"
)

// New creates an empty file in os.TempDir for reading and writing. It disappears when it is closed.
func New() (*os.File, error) {
	f, err := create(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w; set TMPDIR to have it elsewhere", err)
	}
	return f, nil
}
