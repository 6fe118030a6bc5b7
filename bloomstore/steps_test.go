package bloomstore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// watchedFile records the operations on a file. The operation named by failing fails.
type watchedFile struct {
	*os.File
	steps   []string
	failing string
}

func (f *watchedFile) step(name string) error {
	f.steps = append(f.steps, name)
	if name == f.failing {
		return errFail
	}
	return nil
}

func (f *watchedFile) WriteAt(b []byte, at int64) (int, error) {
	return len(b), errors.Join(f.step("write"), second(f.File.WriteAt(b, at)))
}

func (f *watchedFile) Sync() error { return errors.Join(f.step("sync"), f.File.Sync()) }

func (f *watchedFile) Close() error { return errors.Join(f.step("close"), f.File.Close()) }

func second(_ int, err error) error { return err }

// TestSnapshotSyncedBehindItsLastWrite checks that the file is synced after its last write once
// Wait returns no error, so it may be renamed. A failed sync or close is reported.
func TestSnapshotSyncedBehindItsLastWrite(t *testing.T) {
	f, err := New(Shape{Bits: 64 * 2 * snapshotWords, Hashes: 8}, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, failing := range []string{"", "sync", "close"} {
		file, err := os.Create(filepath.Join(t.TempDir(), "filter"))
		if err != nil {
			t.Fatal(err)
		}
		watched := &watchedFile{File: file, failing: failing}
		err = f.startSnapshot(file.Name(), watched, nil).Wait()
		if failing == "" && err != nil || failing != "" && !errors.Is(err, errFail) {
			t.Errorf("%q fails: %v", failing, err)
		}
		n := len(watched.steps)
		if n < 3 || !slices.Equal(watched.steps[n-3:], []string{"write", "sync", "close"}) ||
			slices.Contains(watched.steps[:n-2], "sync") {
			t.Errorf("%q fails: steps %v, want all writes, then sync and close", failing, watched.steps)
		}
	}
}
