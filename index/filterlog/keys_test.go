package filterlog

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/journal"
)

var testHeader = LogHeader{
	mark: mark{7, token{1, 2, 3}}, Before: token{4}, Shape: bloomstore.Shape{Bits: 640, Hashes: 8},
	Scheme: "test", Note: []byte("a note"),
}

func testGroups() (groups []Group) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 5 {
		g := Group{Documents: uint64(10 * i), Time: int64(i) - 2}
		for range 3 * i {
			g.Keys = append(g.Keys, rng.Uint64())
		}
		groups = append(groups, g)
	}
	return groups
}

// writeLog returns the bytes of a log of groups, and the end of each.
func writeLog(t testing.TB, h LogHeader, groups []Group) (data []byte, ends []int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	log, err := logKind.Create(path, h.encode())
	if err != nil {
		t.Fatal(err)
	}
	l := &keyLog{Log: log}
	ends = []int64{l.Size()}
	for _, g := range groups {
		if err := l.Append(g); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, l.Size())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return data, ends
}

func readLog(t testing.TB, data []byte) (h LogHeader, groups []Group, torn int64, err error) {
	f, err := os.CreateTemp("", "keylog")
	if err != nil {
		t.Fatal(err)
	}
	path := f.Name()
	defer os.Remove(path)
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	h, err = ReadLogHeader(path)
	_, torn, groupsErr := ReadLog(path, func(g Group) error {
		g.Keys = slices.Clone(g.Keys)
		groups = append(groups, g)
		return nil
	})
	return h, groups, torn, cmp.Or(err, groupsErr)
}

func equalGroups(a, b []Group) bool {
	return slices.EqualFunc(a, b, func(a, b Group) bool {
		return a.Documents == b.Documents && a.Time == b.Time && slices.Equal(a.Keys, b.Keys)
	})
}

func TestReadsWhatWasAppended(t *testing.T) {
	data, _ := writeLog(t, testHeader, testGroups())
	h, groups, torn, err := readLog(t, data)
	if err != nil || torn != 0 || !equalGroups(groups, testGroups()) {
		t.Fatalf("%+v, %d torn, %v", groups, torn, err)
	}
	if h.Generation != 7 || h.Token != testHeader.Token || h.Before != testHeader.Before || h.Bits != 640 ||
		h.Hashes != 8 || h.Scheme != "test" || string(h.Note) != "a note" {
		t.Errorf("header %+v", h)
	}
}

// TestTornAtEveryByte cuts a log, or zeroes its last group, from any byte on. Read returns the
// groups before it and the length of the rest.
func TestTornAtEveryByte(t *testing.T) {
	data, ends := writeLog(t, testHeader, testGroups())
	for cut := range data {
		_, groups, torn, err := readLog(t, data[:cut])
		if int64(cut) < ends[0] {
			if !errors.Is(err, journal.ErrDamaged) {
				t.Fatalf("cut inside the header at %d: %v", cut, err)
			}
			continue
		}
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= int64(cut) {
			whole++
		}
		if err != nil || !equalGroups(groups, testGroups()[:whole]) || torn != int64(cut)-ends[whole] {
			t.Fatalf("cut at %d: %d groups, want %d; %d torn, %v", cut, len(groups), whole, torn, err)
		}
	}
	last := ends[len(ends)-2]
	for at := last; at < int64(len(data)); at++ {
		zeroed := bytes.Clone(data)
		clear(zeroed[at:]) // the length is on disk, the bytes are not
		_, groups, torn, err := readLog(t, zeroed)
		if bytes.Equal(zeroed, data) {
			continue
		}
		if err != nil || !equalGroups(groups, testGroups()[:4]) || torn != int64(len(data))-last {
			t.Fatalf("zeros from %d: %d groups, %d torn, %v", at, len(groups), torn, err)
		}
	}
}

// TestDamageIsRefused flips every bit. That is damage, except that the last group then looks torn.
// Wrong keys are never read.
func TestDamageIsRefused(t *testing.T) {
	data, ends := writeLog(t, testHeader, testGroups())
	last := ends[len(ends)-2]
	for i := range int64(len(data)) * 8 {
		bad := bytes.Clone(data)
		bad[i/8] ^= 1 << (i % 8)
		_, groups, torn, err := readLog(t, bad)
		switch {
		case i/8 < last && !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrVersion):
			t.Fatalf("bit %d flipped: %d groups, %v", i, len(groups), err)
		case i/8 >= last && (err != nil || torn != int64(len(data))-last || !equalGroups(groups, testGroups()[:4])):
			t.Fatalf("bit %d of the last group flipped: %d groups, %d torn, %v", i, len(groups), torn, err)
		}
	}
}

// TestGroupOfAnotherLog checks that a group of another log does not count, at any place.
func TestGroupOfAnotherLog(t *testing.T) {
	data, ends := writeLog(t, testHeader, testGroups())
	other := testHeader
	other.Token[0]++
	foreign, from := writeLog(t, other, testGroups())
	mixed := append(bytes.Clone(data[:ends[2]]), foreign[from[2]:]...)
	if _, groups, torn, err := readLog(t, mixed); err != nil || len(groups) != 2 || torn == 0 {
		t.Errorf("%d groups, %d torn, %v", len(groups), torn, err)
	}
}

func FuzzRead(f *testing.F) {
	data, ends := writeLog(f, testHeader, testGroups())
	f.Add(data)
	f.Add(data[:ends[3]+5])
	f.Add([]byte(logKind.Magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, groups, torn, err := readLog(t, data)
		if err != nil {
			return
		}
		// Writing the groups again must yield the same bytes.
		again, _ := writeLog(t, h, groups)
		if !bytes.Equal(again, data[:int64(len(data))-torn]) {
			t.Errorf("read and written again: %d bytes of %d", len(again), len(data))
		}
	})
}
