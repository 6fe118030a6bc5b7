package terms

import (
	"fmt"
	"io"
	"os"

	"github.com/firstseen/firstseen/internal/base/durable"
)

// ReadFile reads a table of terms.
func ReadFile(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the table of terms: %w", err)
	}
	defer f.Close() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading the table of terms: %w", err)
	}
	t, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s is %w", path, err)
	}
	return t, nil
}

// WriteFile writes the table to a file, completely or not at all.
func (t *Table) WriteFile(path string) error {
	err := durable.Replace(path, func(f *os.File) error { return t.Write(f) })
	if err != nil {
		return fmt.Errorf("writing the table of terms: %w", err)
	}
	return nil
}
