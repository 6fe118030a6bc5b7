package index

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/internal/base/claim"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestBegun checks that a note about a begun run lasts until documents are saved, and does not
// count in copies of the index.
func TestBegun(t *testing.T) {
	for _, filterOnly := range []bool{false, true} {
		dir, o := filepath.Join(t.TempDir(), "index"), tiny
		o.FilterOnly = filterOnly
		const note = `{"a":1}`
		want := func(x *Index, want string) {
			t.Helper()
			if got, err := x.Started(); string(got) != want || err != nil {
				t.Errorf("filter only %v: %q, %v; want %q", filterOnly, got, err, want)
			}
		}
		x := opened(t, dir, o)
		want(x, "")
		indextest.Must(t, x.NoteStarted([]byte(note)))
		see(t, x, 0, 1)
		indextest.Must(t, x.Close())
		if f, err := os.Open(filepath.Join(dir, startedFile)); err != nil || claim.Identify(f) == (claim.ID{}) {
			t.Logf("this file system does not tell files from copies (%v)", err)
			return
		} else {
			f.Close()
		}
		data, err := os.ReadFile(filepath.Join(dir, startedFile))
		indextest.Must(t, err)
		indextest.Must(t, os.Rename(filepath.Join(dir, startedFile), filepath.Join(dir, "kept")))
		indextest.Must(t, os.WriteFile(filepath.Join(dir, startedFile), data, 0o666))
		x = opened(t, dir, o)
		want(x, "")
		indextest.Must(t, x.Close())
		indextest.Must(t, os.Rename(filepath.Join(dir, "kept"), filepath.Join(dir, startedFile)))
		x = opened(t, dir, o)
		want(x, note)
		see(t, x, 0, 1)
		want(x, note)
		if filterOnly {
			indextest.Must(t, x.Finish(nil))
		} else {
			indextest.Must(t, x.Checkpoint())
		}
		want(x, "")
		indextest.Must(t, x.NoteStarted([]byte(note)))
		indextest.Must(t, errors.Join(x.Save(), x.Close()))
		x = opened(t, dir, o)
		want(x, "")
		indextest.Must(t, x.Close())
	}
}
