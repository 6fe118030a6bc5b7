package docmap

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// reseal adds a valid checksum to damaged bytes, to test the second line of checks.
func reseal(b []byte, seed uint64) []byte {
	return binary.LittleEndian.AppendUint64(slices.Clip(b), xxh3.HashSeed(b, seed))
}

func FuzzHeader(f *testing.F) {
	h := header{scheme: "s", docs: 9, flushed: 8, openBlock: 1, nextRun: 3}
	h.runs[ofKeys] = runsOf(runInfo{id: 1, log: 7, first: 1, last: 8, high: 1<<64 - 1})
	h.runs[ofIDs] = runsOf(runInfo{id: 2, log: 9, first: 1, last: 8, low: 4, high: 1<<64 - 1})
	b := h.encode()
	f.Add(b[:len(b)-8])
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHeader(reseal(b, seedRecord))
		if err != nil {
			return
		}
		if again := h.encode(); !slices.Equal(again, reseal(b, seedRecord)) {
			t.Fatalf("decoded and encoded again:\n%x\n%x", b, again)
		}
	})
}

func FuzzState(f *testing.F) {
	b := encodeState(map[string][]byte{"a": []byte("x"), "bc": {}})
	f.Add(b[:len(b)-8])
	f.Fuzz(func(t *testing.T, b []byte) {
		state, err := decodeState(reseal(b, seedState))
		if err != nil {
			return
		}
		again, err := decodeState(encodeState(state))
		if err != nil || len(again) != len(state) {
			t.Fatalf("%d values, decoded again %d: %v", len(state), len(again), err)
		}
	})
}

func FuzzBlock(f *testing.F) {
	k := docBlock{first: 7}
	k.addDoc("a", []byte("data"))
	k.addDoc("b", nil)
	f.Add(k.encode(), uint32(7))
	f.Fuzz(func(t *testing.T, b []byte, num uint32) {
		if n := uint64(0); len(b) >= 16 {
			n = uint64(binary.LittleEndian.Uint32(b[4:]))
			if ends := 16 + 4*n; ends <= uint64(len(b)) {
				sum := xxh3.HashSeed(b[16:ends], blockSum(num, int(n)))
				b = slices.Clone(b)
				binary.LittleEndian.PutUint64(b[8:], sum)
			}
		}
		for i := range uint32(3) {
			if rec, err := blockRecord(b, num+i); err == nil {
				_, _, _ = splitRecord(rec, num+i)
			}
		}
		k, err := decodeBlock(b, num)
		if err == nil && !slices.Equal(k.encode(), b) {
			t.Fatalf("decoded and encoded again:\n%x\n%x", b, k.encode())
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add(appendRecord(nil, 1, "a", []byte("data"))[4:])
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := uint32(xxh3.HashSeed(b, seedDoc+1))
		id, data, err := splitRecord(append(binary.LittleEndian.AppendUint32(nil, sum), b...), 1)
		if err != nil {
			return
		}
		id2, data2, err := splitRecord(appendRecord(nil, 1, string(id), data), 1)
		if err != nil || !slices.Equal(id, id2) || !slices.Equal(data, data2) {
			t.Fatalf("%q %x, decoded again %q %x: %v", id, data, id2, data2, err)
		}
	})
}

func FuzzPending(f *testing.F) {
	var l wal
	l.add(1, []uint64{1, 2})
	l.add(2, nil)
	f.Add(l.chunks(0, seedPending)[0][8:])
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(binary.LittleEndian.AppendUint64(nil, xxh3.HashSeed(b, seedPending)), b...)
		docs := uint32(0)
		next, err := replayChunk(b, 0, 1, func(uint32, []uint64) error {
			docs++
			return nil
		})
		if err == nil && next != 1+docs {
			t.Fatalf("%d documents, the next is %d", docs, next)
		}
	})
}

// FuzzOpen overwrites three places of a table, which must then be refused or answer as before.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "table")
	sampleTable(f, path)
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	want, err := openDamaged(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(4096), uint64(1), uint32(0), uint64(0), uint32(80), uint64(2))
	f.Fuzz(func(t *testing.T, at1 uint32, v1 uint64, at2 uint32, v2 uint64, at3 uint32, v3 uint64) {
		b := slices.Clone(good)
		for at, v := range map[uint32]uint64{at1: v1, at2: v2, at3: v3} {
			p := b[uint64(at)%uint64(len(b)-8):]
			binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)^v)
		}
		bad := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := openDamaged(bad)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrScheme) && !errors.Is(err, ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		if got != want {
			t.Fatal("the answers are different")
		}
	})
}
