package durable

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/internal/base/step"
)

// TestFailedStepLeavesOldOrNew fails each step of each function once. Only the old or the new file
// is left, and the same call then succeeds.
func TestFailedStepLeavesOldOrNew(t *testing.T) {
	injected := errors.New("injected")
	replace := func(path string) error { return Replace(path, put("new")) }
	rename := func(path string) error {
		if err := os.WriteFile(path+".from", []byte("new"), 0o666); err != nil {
			return err
		}
		return Rename(path+".from", path)
	}
	for _, c := range []struct {
		step string
		call func(path string) error
		want string // content of the file after the failure
	}{
		{"wrote a.tmp", replace, "old"},
		{"renamed a.tmp", replace, "new"}, // the folder may not be on the disk
		{"renamed a.from", rename, "new"},
	} {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		step.Hook = func(name string) error {
			if name == c.step {
				return injected
			}
			return nil
		}
		err := c.call(path)
		step.Hook = nil
		if !errors.Is(err, injected) {
			t.Errorf("%s: %v", c.step, err)
		}
		expect(t, path, c.want)
		if err := c.call(path); err != nil {
			t.Errorf("%s, once more: %v", c.step, err)
		}
		expect(t, path, "new")
	}
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	step.Hook = func(string) error { return injected }
	defer func() { step.Hook = nil }()
	if err := Remove(path); !errors.Is(err, injected) {
		t.Errorf("Remove: %v", err)
	}
}
