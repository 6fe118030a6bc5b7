package forget

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

type closed struct{}

var errClosed = errors.New("closed")

func (closed) Write([]byte) (int, error) { return 0, errClosed }

// TestListComesFirst checks that a batch stays if the list of its dependents cannot be written.
func TestListComesFirst(t *testing.T) {
	dir := filepath.Join(indextest.TempDir(t), "index")
	x, err := index.Open(t.Context(), dir, index.Options{Shape: bloomstore.ForItems(1000)})
	indextest.Must(t, err)
	indextest.Must(t, errors.Join(x.Begin(index.Policy{}), x.SetBatch("early")))
	_, err = x.See("first", []byte(indextest.Sentences(1)))
	indextest.Must(t, errors.Join(err, x.SetBatch("late")))
	x.NoteDependent("copy", &dedup.Result{Verdict: dedup.Duplicate, Of: dedup.Source{Num: 1}})
	indextest.Must(t, errors.Join(x.Finish(nil), x.Close()))
	edit, err := index.Edit(dir)
	indextest.Must(t, err)
	defer func() { indextest.Must(t, edit.Close()) }()
	if _, err := Run(t.Context(), edit, Asked{Batch: "early"}, closed{}); !errors.Is(err, errClosed) {
		t.Errorf("an output that is closed: %v", err)
	}
	var list strings.Builder
	_, err = Run(t.Context(), edit, Asked{Batch: "early"}, &list)
	const want = `{"removed":"copy","batch":"late","of":"first"}` + "\n" + `{"cancelled":"early","documents":1}` + "\n"
	if list.String() != want || err != nil {
		t.Errorf("the list is %s, %v", &list, err)
	}
}
