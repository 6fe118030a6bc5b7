package letters

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzHash compares the loops that the processor has with the plain ones.
func FuzzHash(f *testing.F) {
	f.Add([]byte("thequickbrownfoxjumpsoverthelazydogandrunsawayfromthehounds"), uint32(1<<31))
	f.Add([]byte{}, uint32(0))
	f.Fuzz(func(t *testing.T, text []byte, limit uint32) {
		blocks := len(text)/block + 1
		text = append(text, make([]byte, block+ahead)...)
		var hashes, masks, keys [2][]uint32
		for i := range hashes {
			hashes[i], masks[i], keys[i] = make([]uint32, (blocks+1)*block), make([]uint32, blocks), make([]uint32, blocks)
		}
		hashRunsPlain(hashes[0], masks[0], text, blocks, limit)
		hashRuns(hashes[1], masks[1], text, blocks*block, limit)
		markKeyRunsPlain(keys[0], hashes[0], blocks, limit)
		markKeyRuns(keys[1], hashes[1], blocks*block, limit)
		if diff := cmp.Diff([3]any{hashes[0], masks[0], keys[0]}, [3]any{hashes[1], masks[1], keys[1]}); diff != "" {
			t.Errorf("%q, limit %d (-plain +vector):\n%s", text, limit, diff)
		}
	})
}

func BenchmarkHashRuns(b *testing.B) {
	text := make([]byte, 1024+block+ahead)
	for i := range 128 {
		binary.LittleEndian.PutUint64(text[8*i:], uint64(i)*0x9E3779B97F4A7C15)
	}
	hashes, masks := make([]uint32, 1024+block), make([]uint32, 32)
	b.SetBytes(1024)
	for b.Loop() {
		hashRuns(hashes, masks, text, 1024, 1<<20)
		markKeyRuns(masks, hashes, 1024, 1<<16)
	}
}
