package index

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestFollowedIsRefused checks that only a follower changes or compacts an index that follows a
// log. Compacting opens keys that are closed for the other followers.
func TestFollowedIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	o := smallIndex
	o.Follow = true
	x, err := Open(context.Background(), dir, o)
	indextest.Must(t, err)
	indextest.Must(t, x.Begin(Policy{}))
	indextest.Must(t, x.SetBatch("b"))
	_, err = x.See("a", []byte(indextest.Sentences(1)))
	indextest.Must(t, err)
	indextest.Must(t, x.Finish(map[string][]byte{owners.Followed: []byte("{}")}))
	indextest.Must(t, x.Close())
	o.Follow = false
	if _, err := Open(context.Background(), dir, o); !errors.Is(err, ErrFollowed) {
		t.Errorf("opened: error %v", err)
	}
	if e, err := Edit(dir); !errors.Is(err, ErrFollowed) {
		t.Errorf("edited: error %v", err)
		indextest.Must(t, e.Close())
	}
	o.Follow = true
	x, err = Open(context.Background(), dir, o)
	indextest.Must(t, err)
	indextest.Must(t, x.Close())
}
