package bloomstore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
)

// FuzzOpen: an input is refused, or is a filter that is written again as the same bytes. head is
// the header without its padding and checksum. Those are added, and so is the trailer: random
// bytes would never pass them. The two parts are tried unchanged, too.
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

// useAll checks an accepted filter's promises.
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

// FuzzImport: an input is refused, or is the filter that the library reads.
func FuzzImport(f *testing.F) {
	for _, m := range []uint{1, 100, 128} {
		lib := bloom.New(m, 3)
		lib.Add([]byte("12345678"))
		var b bytes.Buffer
		if _, err := lib.WriteTo(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Import(bytes.NewReader(data), "s", 1<<16)
		if err != nil {
			return
		}
		defer got.Close()
		// The library is safe here: Import has seen that the length is bounded.
		var lib bloom.BloomFilter
		if _, err := lib.ReadFrom(bytes.NewReader(data)); err != nil {
			t.Fatalf("the library refuses what Import took: %v", err)
		}
		for _, key := range []uint64{0, 1, 2, 3} {
			seen := make([]bool, 1)
			got.Test([]uint64{key}, seen)
			if want := lib.Test(keyBytes(key)); seen[0] != want {
				t.Fatalf("key %d: %v, the library says %v", key, seen[0], want)
			}
		}
		useAll(t, got)
	})
}
