package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/internal/indextest"
)

var head = Header{Generation: 7, Owner: [16]byte{1, 2, 3}, Settings: `{"threshold":0.6}`}

var groups = []string{"one", "the second group", "x", "the last of them"}

// written makes a journal of all groups. It returns its bytes and the ends of header and groups.
func written(t *testing.T) (b []byte, ends []int64) {
	path := filepath.Join(t.TempDir(), "j")
	l, err := Create(path, head)
	indextest.Must(t, err)
	ends = append(ends, l.Size())
	for _, g := range groups {
		indextest.Must(t, l.Append(nil, []byte(g)))
		ends = append(ends, l.Size())
	}
	indextest.Must(t, l.Close())
	b, err = os.ReadFile(path)
	indextest.Must(t, err)
	if int64(len(b)) != ends[len(groups)] {
		t.Fatalf("the file has %d bytes, Size returned %d", len(b), ends[len(groups)])
	}
	return b, ends
}

func read(t *testing.T, b []byte) (h Header, got []string, torn int64, err error) {
	path := filepath.Join(t.TempDir(), "j")
	indextest.Must(t, os.WriteFile(path, b, 0o666))
	h, torn, err = Read(path, func(g []byte) error {
		got = append(got, string(g))
		return nil
	})
	return h, got, torn, err
}

func TestReadReturnsWhatWasAppended(t *testing.T) {
	b, _ := written(t)
	h, got, torn, err := read(t, b)
	if err != nil || torn != 0 || h != head {
		t.Fatalf("header %+v, %d torn, error %v", h, torn, err)
	}
	if diff := cmp.Diff(groups, got); diff != "" {
		t.Error(diff)
	}
}

// TestCutAnywhere checks that a journal cut at any byte has exactly its whole groups.
func TestCutAnywhere(t *testing.T) {
	b, ends := written(t)
	for n := range len(b) {
		_, got, torn, err := read(t, b[:n])
		if int64(n) < ends[0] {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("cut in the header at %d: error %v", n, err)
			}
			continue
		}
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= int64(n) {
			whole++
		}
		if err != nil || len(got) != whole || torn != int64(n)-ends[whole] {
			t.Fatalf("cut at %d: %d groups and %d torn bytes, error %v; want %d groups", n, len(got), torn, err, whole)
		}
	}
}

// TestDamageAnywhere checks that a changed byte is refused unless it is in the last group, which a
// crash may have torn.
func TestDamageAnywhere(t *testing.T) {
	b, ends := written(t)
	last := ends[len(groups)-1]
	for i := range b {
		b[i] ^= 0x10
		_, got, torn, err := read(t, b)
		b[i] ^= 0x10
		switch {
		case int64(i) >= last:
			if err != nil || len(got) != len(groups)-1 || torn != int64(len(b))-last {
				t.Fatalf("byte %d of the last group: %d groups, %d torn, error %v", i, len(got), torn, err)
			}
		case !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion):
			t.Fatalf("byte %d changed: error %v, %d groups", i, err, len(got))
		}
	}
}

func TestAppendRefusesEmptyGroup(t *testing.T) {
	l, err := Create(filepath.Join(t.TempDir(), "j"), head)
	indextest.Must(t, err)
	defer l.Close()
	if err := l.Append(nil, nil); err == nil {
		t.Error("an empty group was taken")
	}
	indextest.Must(t, l.Append(nil, []byte("a")))
}

// TestNothingAfterFailure checks that no group follows a torn one, since it could not be read.
func TestNothingAfterFailure(t *testing.T) {
	for name, fail := range map[string]func(l *Log){
		"write": func(l *Log) { indextest.Must(t, l.file.Close()) },
		"sync":  func(l *Log) { l.sync = func(*os.File) error { return os.ErrInvalid } },
	} {
		l, err := Create(filepath.Join(t.TempDir(), "j"), head)
		indextest.Must(t, err)
		fail(l)
		first := l.Append(nil, []byte("a"))
		l.sync = (*os.File).Sync
		if second := l.Append(nil, []byte("b")); first == nil || !errors.Is(second, first) {
			t.Errorf("%s: errors %v and %v", name, first, second)
		}
	}
}
