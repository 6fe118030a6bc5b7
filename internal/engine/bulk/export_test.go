package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/firstseen/firstseen/feature"
)

// writeFrames writes two shards of nine frames, each with two documents.
func writeFrames(t *testing.T) []*Manifest {
	t.Helper()
	dir := t.TempDir()
	data := bytes.Repeat([]byte("x"), frameBytes/2)
	for shard := 1; shard <= 2; shard++ {
		m := &Manifest{Shard: shard, Of: 2, Scheme: "x", Inputs: []File{{Name: fmt.Sprint("in-", shard)}}}
		err := Write(dir, m, func(add func(*Frame) error) error {
			for i := range 18 {
				var f Frame
				sketch := feature.Sketch{Features: make([]feature.Feature, i), Whole: uint64(i), Data: data}
				f.Add(&Doc{ID: fmt.Append(nil, shard, i), Sketch: sketch}, nil, false)
				if err := add(&f); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return readSet(t, dir)
}

// TestExportInOrder checks that any number of goroutines makes the same calls, up to a failure of the
// output, of the form or of a damaged frame.
func TestExportInOrder(t *testing.T) {
	set := writeFrames(t)
	path := set[1].path(shardEnding)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	full := errors.New("full")
	for name, c := range map[string]struct {
		shard  []byte
		fail   int // the call that fails; 0 for none
		refuse string
		calls  int
		err    error
	}{
		"all":     {whole, 0, "", 36, nil},
		"output":  {whole, 7, "", 7, full},
		"form":    {whole, 0, "in-1, place 9", 8, full},
		"damaged": {damaged, 0, "", 26, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, c.shard, 0o666); err != nil {
				t.Fatal(err)
			}
			form := func(dst []byte, m *Manifest, owner Place, record []byte, doc *Doc) ([]byte, error) {
				if fmt.Sprintf("%s, place %d", m.Inputs[0].Name, owner.document()) == c.refuse {
					return dst, full
				}
				return Documents(dst, m, owner, record, doc)
			}
			var want []string
			for jobs := 1; jobs <= 12; jobs++ {
				var got []string
				err := Export(t.Context(), writer(func(b []byte) error {
					if got = append(got, string(b)); len(got) == c.fail {
						return full
					}
					return nil
				}), set, jobs, form)
				if jobs == 1 {
					want = got
				}
				if !errors.Is(err, c.err) || len(got) != c.calls || !slices.Equal(got, want) {
					t.Errorf("%d goroutines: %d calls, error %v; want %d calls, those of one goroutine, error %v", jobs, len(got), err, c.calls, c.err)
				}
			}
		})
	}
}

// TestFramesAreExported checks that the frames of a shard that is written give the bytes that the shard
// gives later.
func TestFramesAreExported(t *testing.T) {
	defer func(size int) { frameBytes = size }(frameBytes)
	frameBytes = 1000
	for name, form := range map[string]Form{"rows": Rows(Row.AppendLine), "documents": Documents} {
		var got, want []string
		to := func(lines *[]string) writer {
			return func(b []byte) error {
				*lines = append(*lines, string(b))
				return nil
			}
		}
		dir := t.TempDir()
		m := &Manifest{Shard: 3, Of: 3, Scheme: "x", Inputs: []File{{Name: "in"}}}
		err := Write(dir, m, func(add func(*Frame) error) error {
			var f Frame
			for i := range 70 {
				f.Add(&Doc{ID: fmt.Append(nil, i), Sketch: feature.Sketch{Features: make([]feature.Feature, i), Whole: uint64(i)}}, nil, false)
				if i%7 < 5 {
					continue
				}
				if err := errors.Join(f.Export(to(&got), m, form), add(&f)); err != nil {
					return err
				}
				f.Reset()
			}
			return nil
		})
		if err == nil {
			err = Export(t.Context(), to(&want), []*Manifest{m}, 1, form)
		}
		if err != nil || len(got) != 70 || !slices.Equal(got, want) {
			t.Errorf("%s: %d records of %d, error %v", name, len(got), len(want), err)
		}
	}
}

// TestExportUsesJobs checks that frames are rendered at the same time, and no more than allowed.
func TestExportUsesJobs(t *testing.T) {
	set := writeFrames(t)
	for jobs := 1; jobs <= 4; jobs++ {
		synctest.Test(t, func(t *testing.T) {
			waiting, open := make(chan struct{}, 100), make(chan struct{})
			ended := make(chan error)
			go func() {
				ended <- Export(t.Context(), writer(func([]byte) error { return nil }), set, jobs, func(dst []byte, _ *Manifest, _ Place, _ []byte, _ *Doc) ([]byte, error) {
					waiting <- struct{}{}
					<-open
					return dst, nil
				})
			}()
			if synctest.Wait(); len(waiting) != jobs {
				t.Errorf("%d goroutines of %d", len(waiting), jobs)
			}
			close(open)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
