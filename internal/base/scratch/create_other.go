//go:build !windows

package scratch

import (
	"errors"
	"os"
)

func create(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "firstseen-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
