package bloomstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestSnapshotWhileAdding adds keys during a snapshot. The file is sound. It holds all keys from
// before the snapshot, and no bit missing from the filter.
func TestSnapshotWhileAdding(t *testing.T) {
	for _, shape := range []Shape{{Bits: 100, Hashes: 3}, {Bits: 64 * snapshotWords, Hashes: 8}, {Bits: 64*3*snapshotWords + 17, Hashes: 8}} {
		f, err := New(shape, "test")
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		add := func(n int) (keys []uint64) {
			for range n {
				keys = append(keys, rng.Uint64())
			}
			f.Add(keys)
			return keys
		}
		before := add(5000)
		path := filepath.Join(t.TempDir(), "filter")
		stamp := []byte("a stamp")
		s, err := f.Snapshot(path, stamp)
		if err != nil {
			t.Fatal(err)
		}
		clear(stamp) // it belongs to the caller
		after := add(1000)
		for !s.Written() {
			after = append(after, add(1000)...)
		}
		if err := s.Wait(); err != nil {
			t.Fatal(err)
		}
		saved, stamp, err := Open(context.Background(), path, "test")
		if err != nil || string(stamp) != "a stamp" {
			t.Fatalf("stamp %q, %v", stamp, err)
		}
		seen := make([]bool, len(before))
		saved.Test(before, seen)
		for i := range seen {
			if !seen[i] {
				t.Fatalf("%v: a key added before the snapshot is not in it", shape)
			}
		}
		for i, w := range saved.words {
			if w&^f.words[i] != 0 {
				t.Fatalf("%v: word %d has bits that the filter has not", shape, i)
			}
		}
		if saved.Items() > f.Items() || saved.Items() < uint64(len(before)) {
			t.Errorf("%v: %d items of %d", shape, saved.Items(), f.Items())
		}
		saved.Add(after)
		if !slices.Equal(saved.words, f.words) {
			t.Errorf("%v: with what came since it is not the filter", shape)
		}
		if err := errors.Join(saved.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSnapshotIsTheFileOfSave checks that a snapshot without additions has the bytes of Save.
func TestSnapshotIsTheFileOfSave(t *testing.T) {
	f, err := New(ForItems(100_000), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Add([]uint64{1, 2, 3, 1 << 63})
	dir := t.TempDir()
	s, err := f.Snapshot(filepath.Join(dir, "a"), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Wait(), f.Save(context.Background(), filepath.Join(dir, "b"), []byte("x"))); err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Error("a snapshot and a saved filter differ")
	}
}

// A stoppingFile stops its snapshot before the n-th write.
type stoppingFile struct {
	*os.File
	left    int
	stop    chan bool // closed before that write
	stopped *Snapshot
}

func (f *stoppingFile) WriteAt(b []byte, at int64) (int, error) {
	if f.left--; f.left == 0 {
		close(f.stop)
		for !f.stopped.quit.Load() {
			runtime.Gosched()
		}
	}
	return f.File.WriteAt(b, at)
}

// TestSnapshotGivenUp checks that a snapshot aborted at any point leaves no file.
func TestSnapshotGivenUp(t *testing.T) {
	f, err := New(Shape{Bits: 64 * 3 * snapshotWords, Hashes: 8}, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const writes = 3*snapshotWords/chunkWords + 2
	for n := 1; n <= writes; n += 4 {
		path := filepath.Join(t.TempDir(), "filter")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &Snapshot{filter: f, path: path, header: Header{Shape: f.shape, Scheme: f.scheme}, written: make(chan struct{})}
		stopping := &stoppingFile{file, n, make(chan bool), s}
		s.file = stopping
		go s.write()
		<-stopping.stop
		if err := s.Abort(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("before write %d: %v", n, err)
		}
		if err := s.Wait(); n <= writes-2-snapshotWords/chunkWords && !errors.Is(err, errAborted) {
			t.Errorf("before write %d: %v", n, err)
		}
	}
	path := filepath.Join(t.TempDir(), "filter")
	s, err := f.Snapshot(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Wait(), s.Abort()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("once it is written: %v", err)
	}
}

// failingFile fails at the n-th operation.
type failingFile struct {
	*os.File
	left int
}

var errFail = errors.New("it fails")

func (f *failingFile) fail() error {
	if f.left--; f.left < 0 {
		return errFail
	}
	return nil
}

func (f *failingFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

func (f *failingFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, at)
}

func (f *failingFile) Sync() error { return errors.Join(f.fail(), f.File.Sync()) }

func (f *failingFile) Close() error { return errors.Join(f.fail(), f.File.Close()) }

// TestSnapshotReportsEveryFailure checks that the error of any failed operation is the result.
func TestSnapshotReportsEveryFailure(t *testing.T) {
	f, err := New(Shape{Bits: 64 * 9 * snapshotWords, Hashes: 8}, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := 0; ; n++ {
		path := filepath.Join(t.TempDir(), "filter")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		s := f.startSnapshot(path, &failingFile{file, n}, nil)
		err = s.Wait()
		if err == nil {
			if n < 10 {
				t.Fatalf("only %d operations", n)
			}
			if _, _, err := Open(context.Background(), path, "test"); err != nil {
				t.Fatal(err)
			}
			return
		}
		if !errors.Is(err, errFail) {
			t.Fatalf("operation %d fails: %v", n, err)
		}
		if err := s.Abort(); err != nil {
			t.Fatal(err)
		}
	}
}
