package segments

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/dchest/siphash"
	"github.com/minio/highwayhash"
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// oracle returns the expected sketch, from a sorted list of the pieces that canontest reads.
func oracle(s Scheme, text string) method.Sketch {
	minWidth, most := cmp.Or(s.MinWidth, DefaultMinWidth), cmp.Or(s.Segments, DefaultSegments)
	var all []method.Feature
	var set method.Sketch
	pieces, _, whole := canontest.Read(text)
	for _, p := range pieces {
		if p.Width < minWidth {
			set.Width += uint64(p.Width)
			set.Units += uint64(p.Units)
			continue
		}
		all = append(all, method.Feature{
			Key: oracleKey(s, p.Form), Order: xxh3.HashString(p.Form), Width: uint32(p.Width), Units: uint32(p.Units),
			Start: uint32(p.Start), End: uint32(p.End),
		})
	}
	slices.SortStableFunc(all, func(a, b method.Feature) int {
		if a.Width != b.Width {
			return int(b.Width) - int(a.Width)
		}
		if a.Order != b.Order {
			return map[bool]int{true: -1, false: 1}[a.Order < b.Order]
		}
		return 0
	})
	for _, f := range all {
		n := len(set.Features)
		switch {
		case n > 0 && set.Features[n-1].Key == f.Key && set.Features[n-1].Width == f.Width:
		case n == most:
			set.Truncated = true
		default:
			set.Features = append(set.Features, f)
			set.Width += uint64(f.Width)
			set.Units += uint64(f.Units)
		}
	}
	set.Whole = oracleWhole(s, whole)
	return set
}

func oracleKey(s Scheme, form string) uint64 {
	if s.Key == nil {
		return xxh3.HashString(form)
	}
	h := siphash.New(s.Key)
	h.Write([]byte(form))
	return h.Sum64()
}

func oracleWhole(s Scheme, form string) uint64 {
	if s.Key == nil {
		return xxh3.HashStringSeed(form, digest.WholeSeed)
	}
	var key []byte
	for i := range 4 {
		key = binary.LittleEndian.AppendUint64(key, oracleKey(s, "\xffwhole text"+string(rune(i))))
	}
	return highwayhash.Sum64([]byte(form), key)
}
