// Package scratch makes temporary files that other processes cannot find. They are gone with the
// process that has them, however that ends.
package scratch

import (
	"fmt"
	"os"
)

// New makes an empty file in the folder for temporary files, for reading and writing. It is
// gone when it is closed.
func New() (*os.File, error) {
	f, err := create(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w; set TMPDIR to have it elsewhere", err)
	}
	return f, nil
}
