package fields

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// sample returns a field of each kind.
func sample() []byte {
	le := binary.LittleEndian
	b := le.AppendUint16([]byte{7}, 1<<15+1)
	b = le.AppendUint64(le.AppendUint32(b, 1<<31+2), 1<<63+3)
	b = binary.AppendVarint(binary.AppendUvarint(b, math.MaxUint64), math.MinInt64)
	b = append(binary.AppendUvarint(b, 3), "abc"...)
	return le.AppendUint64(le.AppendUint32(b, 4), 5)
}

func readSample(r *Reader) []any {
	var four uint32
	var five uint64
	list := []any{r.Byte(), r.Uint16(), r.Uint32(), r.Uint64(), r.Uvarint(), r.Varint(), string(r.Bytes())}
	r.Into([]any{&four, &five})
	return append(list, four, five)
}

func TestReader(t *testing.T) {
	r := &Reader{Rest: sample()}
	want := []any{byte(7), uint16(1<<15 + 1), uint32(1<<31 + 2), uint64(1<<63 + 3), uint64(math.MaxUint64), int64(math.MinInt64), "abc", uint32(4), uint64(5)}
	if got := readSample(r); !slices.Equal(got, want) || r.Short || len(r.Rest) > 0 {
		t.Errorf("%v, %+v", got, r)
	}
}

// TestShort checks that truncated bytes are noticed and not read past their end.
func TestShort(t *testing.T) {
	whole := sample()
	for n := range whole {
		r := &Reader{Rest: whole[:n:n]}
		if readSample(r); !r.Short || len(r.Rest) > 0 {
			t.Errorf("of %d bytes: %+v", n, r)
		}
	}
	for _, b := range []string{"", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x05abcd", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		r := &Reader{Rest: []byte(b)}
		if r.Bytes(); !r.Short {
			t.Errorf("%q: %+v", b, r)
		}
	}
	r := &Reader{Rest: []byte("abc")}
	if got := r.Next(-1); len(got) != 8 || !r.Short {
		t.Errorf("%q, %+v", got, r)
	}
}
