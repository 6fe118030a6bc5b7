package index

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestRemoveLeftIndex removes a temporary index that no process holds, and never anything else.
func TestRemoveLeftIndex(t *testing.T) {
	made := func(names ...string) string {
		dir := filepath.Join(t.TempDir(), "left")
		indextest.Must(t, os.Mkdir(dir, 0o777))
		for _, name := range names {
			indextest.Must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
		}
		return dir
	}
	held := filepath.Join(t.TempDir(), "held")
	opened(t, held, smallIndex)
	temporary := smallIndex
	temporary.Temporary = true
	left := filepath.Join(t.TempDir(), "left")
	grown(t, left, temporary, 0, 5)
	kept := filepath.Join(t.TempDir(), "kept")
	grown(t, kept, smallIndex, 0, 5)
	nested := made(lockFile, TableFile)
	indextest.Must(t, os.Mkdir(filepath.Join(nested, FilterFile), 0o777))
	for _, c := range []struct {
		name, dir string
		want      bool
	}{
		{"a temporary index", left, true},
		{"one half made", made(lockFile, TableFile+".new"), true},
		{"a temporary report", made(lockFile, TemporaryReport), true},
		{"a report half written", made(lockFile, TemporaryReport+".partial"), true},
		{"an index for later use", kept, false},
		{"one with a key", made(lockFile, TableFile, KeyFile), false},
		{"one of a run that begins", made(lockFile, TableFile, startedFile), false},
		{"one that a process has", held, false},
		{"a lock alone", made(lockFile), false},
		{"no lock", made(TableFile, FilterFile), false},
		{"somebody's notes", made(lockFile, TableFile, "notes.txt"), false},
		{"a folder in it", nested, false},
	} {
		removed, err := RemoveLeftIndex(c.dir)
		if removed != c.want || err != nil {
			t.Errorf("%s: removed %v, %v", c.name, removed, err)
		}
		if there, err := exists(c.dir); there == c.want || err != nil {
			t.Errorf("%s: it is there: %v, %v", c.name, there, err)
		}
	}
	if removed, err := RemoveLeftIndex(filepath.Join(left, "gone")); removed || err == nil {
		t.Errorf("what is not there: %v, %v", removed, err)
	}
}
