// Package bloomstore is an in-memory Bloom filter of 64-bit keys. It is queried and filled in
// batches, and saved to one file with checksums.
//
//	f, err := bloomstore.New(bloomstore.ForItems(500_000_000), "my-keys-v1")
//	...
//	seen := make([]bool, len(keys))
//	f.Test(keys, seen) // seen[i]: keys[i] was added before
//	f.Add(keys)
//	err = f.Save("filter", nil)
//
// An added key is always seen. Any other key is seen with a small probability:
// [Shape.FalsePositiveRate] predicts it, and [Filter.Rate] returns the current one.
//
// Bit for bit it equals the filter of github.com/bits-and-blooms/bloom/v3 for the 8 little-endian
// bytes of the same keys. That library can read the output of [Filter.Export].
//
// The name of the scheme identifies how keys were made. It is stored with the filter, and a filter
// of another scheme is refused: its answers would be noise.
//
// The package does not depend on texts. docs/format.md has the layout of the file.
package bloomstore

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"github.com/firstseen/firstseen/internal/base/hugemem"
)

// Errors for callers to distinguish, wrapped with the file and the remedy.
var (
	// ErrDamaged means that the file differs from the saved one.
	ErrDamaged = errors.New("filter is damaged")
	// ErrScheme means that the keys in the filter were made by another scheme.
	ErrScheme = errors.New("filter was made with another scheme")
	// ErrVersion means that this program does not support the version of the file.
	ErrVersion = errors.New("filter has an unknown version")
)

// maxScheme is the maximum length of a scheme's name in bytes.
const maxScheme = 255

// A Filter is a Bloom filter of 64-bit keys. Test and TestLazily are safe for concurrent use, and so
// is AddShared, but not during a test. Everything else needs exclusive access. During a [Snapshot]
// one goroutine may Test and Add. After Close only Close and Closed may be called.
type Filter struct {
	shape    Shape
	scheme   string
	modulus  modulus
	mem      []byte   // allocated by hugemem
	words    []uint64 // mem, as words
	items    uint64
	ones     uint64
	gathered atomic.Bool // mem is in huge pages
	scratch  [blockPositions]uint64
	adding   sync.Mutex // excludes Add and Snapshot from each other
}

// New returns an empty filter. Its memory lies outside the Go heap, in huge pages if available, once it
// has more than a few keys. The system allocates it as the filter fills, and Close frees it. scheme names how the keys are made;
// 1 to 255 bytes of UTF-8.
func New(shape Shape, scheme string) (*Filter, error) {
	if err := cmp.Or(shape.Validate(), validateScheme(scheme)); err != nil {
		return nil, err
	}
	size := shape.Bytes()
	if size > math.MaxInt {
		return nil, fmt.Errorf("a filter of %d bytes is more than this machine can address", size)
	}
	mem, err := hugemem.AllocSparse(int(size))
	if err != nil {
		return nil, fmt.Errorf("making a filter: %w", err)
	}
	return &Filter{
		shape:   shape,
		scheme:  scheme,
		modulus: newModulus(shape.Bits),
		mem:     mem,
		words:   unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(mem))), shape.words()),
	}, nil
}

func validateScheme(scheme string) error {
	if len(scheme) < 1 || len(scheme) > maxScheme || !utf8.ValidString(scheme) {
		return fmt.Errorf("scheme name %q: must be 1 to %d bytes of UTF-8", scheme, maxScheme)
	}
	return nil
}

// sparseOnes returns the number of one bits at which a filter moves to huge pages. Each bit touches a
// page. So ten documents touch 2 MiB, and with huge pages the whole filter: 100 MiB, for 50 ms. Half of
// its pages, touched one at a time, cost as much.
func (s Shape) sparseOnes() uint64 { return min(s.Bytes()>>13, 1<<14) }

// gather moves the filter to huge pages, once, if it has or will have so many one bits.
func (f *Filter) gather(ones uint64) {
	if ones >= f.shape.sparseOnes() && !f.gathered.Load() && f.gathered.CompareAndSwap(false, true) {
		hugemem.Gather(f.mem)
	}
}

// Expect prepares for testing or adding that many keys. Without it the first ones may take longer.
func (f *Filter) Expect(keys int) { f.gather(f.ones + uint64(keys*f.shape.Hashes)) }

// Close frees the memory. Further calls do nothing.
func (f *Filter) Close() error {
	mem := f.mem
	f.mem, f.words = nil, nil
	return hugemem.Free(mem)
}

// Closed reports whether Close was called.
func (f *Filter) Closed() bool { return f.words == nil }

// Shape returns the shape given to New.
func (f *Filter) Shape() Shape { return f.shape }

// Scheme returns the name of the scheme given to New.
func (f *Filter) Scheme() string { return f.scheme }

// Items returns the number of keys added over the filter's life, including repeats.
func (f *Filter) Items() uint64 { return f.items }

// Ones returns the number of one bits. Add counts them, so this is free.
func (f *Filter) Ones() uint64 { return f.ones }

// Fill returns the share of one bits, 0 to 1.
func (f *Filter) Fill() float64 { return float64(f.ones) / float64(f.shape.Bits) }

// Rate returns the share of keys never added that is currently reported as seen: fill^k.
func (f *Filter) Rate() float64 { return math.Pow(f.Fill(), float64(f.shape.Hashes)) }

const (
	// maxBits (1 TiB) and maxHashes bound the size in a header.
	maxBits   = 1 << 43
	maxHashes = 64

	defaultHashes = 8
)

// Shape is the size of a filter.
type Shape struct {
	Bits   uint64 // m, the number of bits, 1 to 2^43
	Hashes int    // k, the bits set for each key, 1 to 64
}

// ForItems returns the shape designed for n keys: 16 bits a key and 8 probes. At n keys the filter
// is 39% full and its false positive rate is 5.745e-4; at 2n keys the rate is 2.5e-2.
func ForItems(n uint64) Shape {
	n = min(max(n, 4), maxBits/(2*defaultHashes))
	bits := n * 2 * defaultHashes
	return Shape{Bits: (bits + 63) &^ 63, Hashes: defaultHashes}
}

// ForMemory returns the largest shape with at most the given bytes of memory, but at least 8 bytes.
func ForMemory(bytes uint64) Shape {
	bytes = min(max(bytes&^7, 8), maxBits/8)
	return Shape{Bits: bytes * 8, Hashes: defaultHashes}
}

// Validate returns an error if no filter can have this shape.
func (s Shape) Validate() error {
	if s.Bits < 1 || s.Bits > maxBits {
		return fmt.Errorf("a filter of %d bits: must have 1 to %d", s.Bits, uint64(maxBits))
	}
	if s.Hashes < 1 || s.Hashes > maxHashes {
		return fmt.Errorf("a filter with %d probes per key: must have 1 to %d", s.Hashes, maxHashes)
	}
	return nil
}

// Capacity returns the number of keys at design load: two bits per probe, 16 bits a key for 8
// probes. A filter accepts more keys, but its false positive rate rises fast.
func (s Shape) Capacity() uint64 { return s.Bits / (2 * uint64(s.Hashes)) }

// Bytes returns the memory of the bits.
func (s Shape) Bytes() uint64 { return s.words() * 8 }

// FalsePositiveRate predicts the rate after adding items distinct keys: (1 − e^(−kn/m))^k.
func (s Shape) FalsePositiveRate(items uint64) float64 {
	k := float64(s.Hashes)
	// Expm1 keeps the digits if few bits are set.
	fill := -math.Expm1(-k * float64(items) / float64(s.Bits))
	return math.Pow(fill, k)
}

func (s Shape) words() uint64 { return (s.Bits + 63) / 64 }
