package docmap

import (
	"fmt"
	"io/fs"
)

// ReadScheme returns the name of the scheme that the table in the file path was
// made with, for programs that are to follow it. It reads no documents and takes
// part in the lock as a table opened for reading does. The errors are those of
// Open.
func ReadScheme(path string) (scheme string, err error) {
	t := &Table{path: path, opt: Options{ReadOnly: true}}
	err = t.guarded(func() error {
		scheme, err = t.readScheme()
		return err
	})
	if closeErr := t.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", fmt.Errorf("reading the table: %w", err)
	}
	return scheme, nil
}

func (t *Table) readScheme() (string, error) {
	exists, err := t.precheck()
	if err != nil {
		return "", err
	}
	if !exists {
		return "", fmt.Errorf("%s: %w", t.path, fs.ErrNotExist)
	}
	if err := t.openFile(true); err != nil {
		return "", err
	}
	tx, err := t.reading()
	if err != nil {
		return "", err
	}
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return "", damage("it is not a table, or parts of it are missing")
	}
	h, err := decodeHeader(meta.Get(keyTable))
	if err != nil {
		return "", err
	}
	return h.scheme, nil
}
