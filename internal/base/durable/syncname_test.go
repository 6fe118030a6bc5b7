package durable

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// TestSyncName checks that SyncName makes a name durable or returns an error.
func TestSyncName(t *testing.T) {
	dir := t.TempDir()
	path, want := filepath.Join(dir, "a"), []string{"sync folder " + filepath.Base(dir)}
	t.Run("done", func(t *testing.T) {
		steps := watch(t, -1)
		if err := SyncName(path); err != nil || !slices.Equal(*steps, want) {
			t.Errorf("steps %q, want %q; %v", *steps, want, err)
		}
	})
	t.Run("failed", func(t *testing.T) {
		watch(t, 0)
		if err := SyncName(path); !errors.Is(err, errStep) {
			t.Errorf("error %v, want %v", err, errStep)
		}
	})
}
