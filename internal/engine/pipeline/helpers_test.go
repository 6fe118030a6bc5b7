package pipeline

import (
	"context"
	"os"
	"testing"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

func TestMain(m *testing.M) {
	os.Setenv("TMPDIR", indextest.Memory())
	m.Run()
}

func opened(t *testing.T, dir string, o index.Options) *index.Index {
	t.Helper()
	x, err := index.Open(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// onStep calls hook with the name of each completed step while the test runs.
func onStep(t *testing.T, hook func(name string)) {
	t.Helper()
	step.Hook = func(name string) error {
		hook(name)
		return nil
	}
	t.Cleanup(func() { step.Hook = nil })
}
