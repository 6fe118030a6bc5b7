package bloomstore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// FuzzOpen checks that an input is refused, or is a filter written back as the same bytes. head is
// the header without padding and checksum. These and the trailer are added, since random bytes
// would never pass them. Both parts are also tried unchanged.
func FuzzOpen(f *testing.F) {
	small, err := New(Shape{100, 3}, "scheme-1")
	if err != nil {
		f.Fatal(err)
	}
	defer small.Close()
	small.Add([]uint64{1, 2})
	for _, stamp := range []string{"", "stamp"} {
		data := saved(f, small, []byte(stamp))
		f.Add(data[:fixedSize+len(small.scheme)+len(stamp)], data[pageSize:len(data)-sumSize])
	}
	f.Fuzz(func(t *testing.T, head, body []byte) {
		checkDecode(t, slices.Concat(head, body))
		size := pageSize
		if len(head) >= prefixSize {
			size = max(size, int(binary.LittleEndian.Uint32(head[20:])%(2*maxHeader)))
		}
		if len(head) > size-sumSize {
			return
		}
		data := make([]byte, size, size+len(body)+sumSize)
		copy(data, head)
		data = append(append(data, body...), make([]byte, sumSize)...)
		checkDecode(t, seal(data, size))
	})
}

func checkDecode(t *testing.T, data []byte) {
	f, stamp, err := decode(bytes.NewReader(data), uint64(len(data)), "scheme-1")
	if err != nil {
		return
	}
	defer f.Close()
	if again := saved(t, f, stamp); !bytes.Equal(again, data) {
		t.Fatal("a file that was accepted is written as other bytes")
	}
	useAll(t, f)
}

// useAll uses an accepted filter.
func useAll(t *testing.T, f *Filter) {
	checkCount(t, f)
	keys, seen := []uint64{0, 1, ^uint64(0)}, make([]bool, 3)
	lib := library(f)
	f.Test(keys, seen)
	for i, key := range keys {
		if want := lib.Test(keyBytes(key)); seen[i] != want {
			t.Fatalf("key %d: %v, the library says %v", i, seen[i], want)
		}
	}
	f.Add(keys)
	f.Test(keys, seen)
	if !seen[0] || !seen[1] || !seen[2] {
		t.Fatal("an added key is not seen")
	}
	checkCount(t, f)
}
