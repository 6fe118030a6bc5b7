package bloomstore

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestHeaderOfOtherSize changes the length of a file by one byte. ReadHeader must refuse it.
func TestHeaderOfOtherSize(t *testing.T) {
	whole := saved(t, sample(t), []byte("stamp"))
	for name, data := range map[string][]byte{"longer": append(whole[:len(whole):len(whole)], 0), "shorter": whole[:len(whole)-1]} {
		path := filepath.Join(t.TempDir(), "filter")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if h, err := ReadHeader(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// TestHeaderLongerThanItsNames checks a longer header than its names need, with correct checksums.
func TestHeaderLongerThanItsNames(t *testing.T) {
	h := Header{Shape: Shape{640, 8}, Scheme: "scheme-1", Stamp: []byte("stamp")}
	b := append(h.encode(), make([]byte, pageSize)...)
	binary.LittleEndian.PutUint32(b[20:], uint32(len(b)))
	end := len(b) - sumSize
	clear(b[end-pageSize : end]) // the old checksum
	binary.LittleEndian.PutUint64(b[end:], xxh3.Hash(b[:end]))
	if got, err := parseHeader(b); !errors.Is(err, ErrDamaged) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseHeader(h.encode()); err != nil {
		t.Errorf("the shorter one: %v", err)
	}
}
