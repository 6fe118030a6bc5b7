package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

type header struct {
	Generation int
	Rules      string
}

var (
	about  = header{7, `{"threshold":0.6}`}
	groups = []string{"one", "the second group", "x", "the last of them"}
)

// written makes a journal. It returns its bytes and the ends of header and groups.
func written(t testing.TB, about any, groups ...string) (b []byte, ends []int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j")
	l, err := Served.Create(path, about)
	indextest.Must(t, err)
	ends = append(ends, l.Size())
	for _, g := range groups {
		indextest.Must(t, l.Append([]byte(g)))
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

func read(t testing.TB, b []byte) (h header, got []string, torn int64, err error) {
	path := filepath.Join(t.TempDir(), "j")
	indextest.Must(t, os.WriteFile(path, b, 0o666))
	_, torn, err = Served.Read(path, &h, func(g []byte) error {
		got = append(got, string(g))
		return nil
	})
	return h, got, torn, err
}

func TestReadReturnsWhatWasAppended(t *testing.T) {
	b, _ := written(t, about, groups...)
	h, got, torn, err := read(t, b)
	if err != nil || torn != 0 || h != about {
		t.Fatalf("header %+v, %d torn, error %v", h, torn, err)
	}
	if diff := cmp.Diff(groups, got); diff != "" {
		t.Error(diff)
	}
}

// TestCutAnywhere checks that a journal cut at any byte has exactly its whole groups.
func TestCutAnywhere(t *testing.T) {
	b, ends := written(t, about, groups...)
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
	last := ends[len(groups)-1]
	for n := last; n < int64(len(b)); n++ {
		zeroed := bytes.Clone(b)
		clear(zeroed[n:]) // the length is on disk, the bytes are not
		if _, got, torn, err := read(t, zeroed); err != nil || !slices.Equal(got, groups[:3]) || torn != int64(len(b))-last {
			t.Fatalf("zeros from %d: %d groups, %d torn, %v", n, len(got), torn, err)
		}
	}
}

// TestDamageAnywhere checks that a changed byte is refused unless it is in the last group, which a
// crash may have torn.
func TestDamageAnywhere(t *testing.T) {
	b, ends := written(t, about, groups...)
	last := ends[len(groups)-1]
	for i := range int64(len(b)) {
		b[i] ^= 1 << (i % 8)
		_, got, torn, err := read(t, b)
		b[i] ^= 1 << (i % 8)
		switch {
		case i >= last:
			if err != nil || !slices.Equal(got, groups[:3]) || torn != int64(len(b))-last {
				t.Fatalf("byte %d of the last group: %d groups, %d torn, error %v", i, len(got), torn, err)
			}
		case !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion):
			t.Fatalf("byte %d changed: error %v, %d groups", i, err, len(got))
		}
	}
}

// TestGroupOfAnotherJournal checks that a group of another journal does not count, at any place.
func TestGroupOfAnotherJournal(t *testing.T) {
	b, ends := written(t, about, groups...)
	foreign, from := written(t, header{8, about.Rules}, groups...)
	mixed := append(bytes.Clone(b[:ends[2]]), foreign[from[2]:]...)
	if _, got, torn, err := read(t, mixed); err != nil || len(got) != 2 || torn == 0 {
		t.Errorf("%d groups, %d torn, %v", len(got), torn, err)
	}
}

// TestGroupsInTheirOrder checks that a missing group is damage. A repeated one does not count.
func TestGroupsInTheirOrder(t *testing.T) {
	b, ends := written(t, about, groups...)
	without := slices.Concat(b[:ends[2]], b[ends[3]:])
	if _, got, _, err := read(t, without); !errors.Is(err, ErrDamaged) {
		t.Errorf("without its third group: %d groups, %v", len(got), err)
	}
	again := slices.Concat(b, b[ends[2]:ends[3]])
	if _, got, torn, err := read(t, again); err != nil || !slices.Equal(got, groups) || torn != ends[3]-ends[2] {
		t.Errorf("with its third group again: %d groups, %d torn, %v", len(got), torn, err)
	}
}

// TestLaterGroupAnywhere finds a later group after a damaged one, even across pieces of the search.
func TestLaterGroupAnywhere(t *testing.T) {
	const piece = 1 << 20
	for _, start := range []int{piece - headSize - 1, piece - headSize, piece - headSize + 1, piece - 1, piece, piece + 1} {
		b, ends := written(t, about, strings.Repeat("x", start-headSize), "y")
		for _, shift := range []int64{0, 8} { // the group's start, or after its first number
			b[ends[0]+shift] ^= 1
			if _, _, torn, err := read(t, b); !errors.Is(err, ErrDamaged) {
				t.Errorf("a later group after %d bytes: %d torn, %v", start, torn, err)
			}
			b[ends[0]+shift] ^= 1
		}
	}
}

// resealed returns a journal of one group with other bytes in its header, and its checksum.
func resealed(t *testing.T, change func(b []byte)) []byte {
	b, ends := written(t, about)
	sum := ends[0] - sumSize
	change(b[:sum])
	return binary.LittleEndian.AppendUint64(b[:sum], xxh3.Hash(b[:sum]))
}

// TestHeaders refuses another version by its number, and a description of another form.
func TestHeaders(t *testing.T) {
	for _, v := range []uint32{0, version - 1, version + 1, 1 << 31} {
		b := resealed(t, func(b []byte) { binary.LittleEndian.PutUint32(b[16:], v) })
		if _, _, _, err := read(t, b); !errors.Is(err, ErrVersion) {
			t.Errorf("version %d: %v", v, err)
		}
	}
	for name, change := range map[string]func(b []byte){
		"none":           func([]byte) {},
		"no JSON":        func(b []byte) { b[prefixSize] = '[' },
		"unknown names":  func(b []byte) { b[prefixSize+2] = 'g'; b[prefixSize+3] = 'u' },
		"another length": func(b []byte) { b[20]++ },
		"too long":       func(b []byte) { b[23] = 2 },
	} {
		if _, _, _, err := read(t, resealed(t, change)); (name == "none") != (err == nil) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Served.Create(filepath.Join(t.TempDir(), "j"), header{0, strings.Repeat("x", mostAbout)}); err == nil {
		t.Error("a description too long to be read was written")
	}
}

func TestAppendRefusesEmptyGroup(t *testing.T) {
	l, err := Served.Create(filepath.Join(t.TempDir(), "j"), about)
	indextest.Must(t, err)
	defer l.Close()
	if err := l.Append(nil); err == nil {
		t.Error("an empty group was taken")
	}
	indextest.Must(t, l.Append([]byte("a")))
}

// TestNothingAfterFailure checks that no group follows a torn one, since it could not be read.
func TestNothingAfterFailure(t *testing.T) {
	for name, fail := range map[string]func(l *Log){
		"write": func(l *Log) { indextest.Must(t, l.file.Close()) },
		"sync":  func(l *Log) { l.sync = func(*os.File) error { return os.ErrInvalid } },
	} {
		l, err := Served.Create(filepath.Join(t.TempDir(), "j"), about)
		indextest.Must(t, err)
		fail(l)
		first := l.Append([]byte("a"))
		l.sync = (*os.File).Sync
		if second := l.Append([]byte("b")); first == nil || !errors.Is(second, first) {
			t.Errorf("%s: errors %v and %v", name, first, second)
		}
	}
}

func FuzzRead(f *testing.F) {
	b, ends := written(f, about, groups...)
	f.Add(b)
	f.Add(b[:ends[3]+5])
	f.Add([]byte(Served.Magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, got, torn, err := read(t, b)
		if err != nil {
			return
		}
		// Writing the groups again must yield the same bytes.
		again, _ := written(t, h, got...)
		if !bytes.Equal(again, b[:int64(len(b))-torn]) {
			t.Errorf("read and written again: %d bytes of %d", len(again), len(b))
		}
	})
}

// TestReader reads a journal from a stream in small pieces. One that is cut or damaged anywhere yields
// the groups before that, and no others.
func TestReader(t *testing.T) {
	b, ends := written(t, about, groups...)
	stream := func(b []byte) (got []string, err error) {
		var h header
		r, err := Served.NewReader(iotest.OneByteReader(bytes.NewReader(b)), &h)
		for err == nil {
			var group []byte
			if group, err = r.Next(); err == nil {
				got = append(got, string(group))
				if want := ends[len(got)]; r.Offset() != want || h != about {
					t.Fatalf("after group %d: offset %d, want %d, header %v", len(got), r.Offset(), want, h)
				}
			}
		}
		return got, err
	}
	for n := range len(b) + 1 {
		got, err := stream(b[:n])
		whole, found := slices.BinarySearch(ends, int64(n))
		if want := groups[:max(whole-1, 0)]; found && (err != io.EOF || !slices.Equal(got, groups[:whole])) ||
			!found && (!errors.Is(err, ErrDamaged) || !slices.Equal(got, want)) {
			t.Fatalf("cut at %d: %q, %v", n, got, err)
		}
	}
	for i := range b {
		b[i] ^= 1 << (i % 8)
		whole, found := slices.BinarySearch(ends, int64(i))
		if found {
			whole++
		}
		if got, err := stream(b); err == io.EOF || !slices.Equal(got, groups[:max(whole-1, 0)]) {
			t.Fatalf("byte %d changed: %q, %v", i, got, err)
		}
		b[i] ^= 1 << (i % 8)
	}
}
