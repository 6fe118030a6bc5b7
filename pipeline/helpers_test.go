package pipeline

import (
	"testing"

	"github.com/firstseen/firstseen/index"
)

func opened(t *testing.T, dir string, o index.Options) *index.Index {
	t.Helper()
	x, err := index.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close(false) })
	return x
}
