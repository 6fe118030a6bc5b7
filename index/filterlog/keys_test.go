package filterlog

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/base/journal"
)

// TestLogReadsWhatWasAppended checks all fields of a log. Package journal has the tests of torn and
// damaged ones.
func TestLogReadsWhatWasAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	want := LogHeader{
		mark: mark{7, token{1, 2, 3}}, Before: token{4}, Shape: bloomstore.Shape{Bits: 640, Hashes: 8},
		Scheme: "test", State: map[string][]byte{"run": {0, 255}},
	}
	groups := []Group{{Documents: 1, Time: -2}, {Documents: 10, Time: 1 << 40, Keys: []uint64{1, 1 << 63, 3}}, {Documents: 11, Keys: []uint64{4}}}
	log, err := logKind.Create(path, &want)
	if err != nil {
		t.Fatal(err)
	}
	for i := range groups {
		if err := log.Append(groups[i].append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadLogHeader(path)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(LogHeader{}, mark{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	var read []Group
	size, torn, err := ReadLog(path, func(g Group) error {
		g.Keys = slices.Clone(g.Keys)
		read = append(read, g)
		return nil
	})
	same := slices.EqualFunc(read, groups, func(a, b Group) bool {
		return a.Documents == b.Documents && a.Time == b.Time && slices.Equal(a.Keys, b.Keys)
	})
	if err != nil || !same || torn != 0 || size != log.Size() {
		t.Errorf("%+v, %d torn of %d, %v", read, torn, size, err)
	}
	for n := range 3 * groupHead {
		ok := n >= groupHead && n%8 == 0
		if err := new(Group).parse(make([]byte, n)); (err == nil) != ok || !ok && !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("a group of %d bytes: %v", n, err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTokens refuses a token of another length or in other digits.
func TestTokens(t *testing.T) {
	var a token
	for _, text := range []string{"", "00", "000102030405060708090a0b0c0d0e0g", "000102030405060708090a0b0c0d0e0f00"} {
		if a.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is a token", text)
		}
	}
}
