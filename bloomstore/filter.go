// Package bloomstore is a Bloom filter of 64-bit keys that lives in memory, is
// asked and filled a batch at a time, and is saved to one checked file.
//
//	f, err := bloomstore.New(bloomstore.ForItems(500_000_000), "my-keys-v1")
//	...
//	seen := make([]bool, len(keys))
//	f.Test(keys, seen) // seen[i]: keys[i] was added before
//	f.Add(keys)
//	err = f.Save("filter", nil)
//
// A key that was added is always reported as seen. A key that was not is
// reported as seen with a small probability, which [Shape.FalsePositiveRate]
// predicts and [Filter.Rate] gives for the filter as it stands.
//
// Bit for bit it is the filter that github.com/bits-and-blooms/bloom/v3 would
// build from the 8 little-endian bytes of the same keys, so every program that
// knows that library can read what [Filter.Export] writes.
//
// The name of the scheme says how keys were made. It is stored with the filter
// and a filter of another scheme is refused: its answers would be noise.
//
// The package knows nothing of texts. docs/format.md has the layout of the file.
package bloomstore

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// Errors for callers to distinguish. They come wrapped, with the file and the
// remedy in the message.
var (
	// ErrDamaged: the file differs from the saved one.
	ErrDamaged = errors.New("filter is damaged")
	// ErrScheme: the keys in the filter were made by another scheme.
	ErrScheme = errors.New("filter was made with another scheme")
	// ErrVersion: the file is of a version this program does not know.
	ErrVersion = errors.New("filter is of an unknown version")
)

// maxScheme is the longest name of a scheme, in bytes.
const maxScheme = 255

// A Filter is a Bloom filter of 64-bit keys. Any number of goroutines may Test, or AddShared, at
// the same time; everything else needs the filter for itself. Beside a [Snapshot] one goroutine may
// Test and Add. After Close only Close and Closed may be called.
type Filter struct {
	shape   Shape
	scheme  string
	modulus modulus
	mem     []byte   // from hugemem
	words   []uint64 // mem, as words
	items   uint64
	ones    uint64
	scratch [blockPositions]uint64
	adding  sync.Mutex // keeps Add and a Snapshot apart
}

// New makes an empty filter. Its memory lies outside the Go heap, in huge pages if the system has
// them. The system allocates it as the filter fills, and Close frees it. scheme names how the
// keys are made; 1 to 255 bytes of UTF-8.
func New(shape Shape, scheme string) (*Filter, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	if err := validateScheme(scheme); err != nil {
		return nil, err
	}
	size := shape.Bytes()
	if size > math.MaxInt {
		return nil, fmt.Errorf("a filter of %d bytes is more than this machine can address", size)
	}
	mem, err := hugemem.Alloc(int(size))
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

// Close frees the memory. A second Close does nothing.
func (f *Filter) Close() error {
	mem := f.mem
	f.mem, f.words = nil, nil
	return hugemem.Free(mem)
}

// Closed reports whether Close was called.
func (f *Filter) Closed() bool { return f.words == nil }

// Shape returns the shape given to New.
func (f *Filter) Shape() Shape { return f.shape }

// Scheme names how the keys were made.
func (f *Filter) Scheme() string { return f.scheme }

// Items returns the number of keys added over the filter's life, counting repeats. For an
// imported filter it starts from an estimate.
func (f *Filter) Items() uint64 { return f.items }

// Ones returns the number of one bits. Add counts them, so this costs nothing.
func (f *Filter) Ones() uint64 { return f.ones }

// Fill returns the share of one bits, 0 to 1.
func (f *Filter) Fill() float64 { return float64(f.ones) / float64(f.shape.Bits) }

// Rate returns the share of keys never added that the present filter reports as seen: fill^k.
func (f *Filter) Rate() float64 { return math.Pow(f.Fill(), float64(f.shape.Hashes)) }

const (
	// maxBits (1 TiB) and maxHashes bound the size in a header.
	maxBits   = 1 << 43
	maxHashes = 64

	defaultHashes = 8
)

// Shape is the size of a filter. Filters of equal shape and scheme can be merged.
type Shape struct {
	Bits   uint64 // m: bits in the filter, 1 to 2^43
	Hashes int    // k: bits set for each key, 1 to 64
}

// ForItems returns the shape made for n keys: 16 bits a key and 8 probes. At n keys the filter is
// 39% full and reports 5.745e-4 of the keys never added as seen; at 2n it is 2.5e-2.
func ForItems(n uint64) Shape {
	n = min(max(n, 4), maxBits/(2*defaultHashes))
	bits := n * 2 * defaultHashes
	return Shape{Bits: (bits + 63) &^ 63, Hashes: defaultHashes}
}

// ForMemory returns the largest shape whose bits take at most the given bytes of memory; at least
// 8 bytes.
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
		return fmt.Errorf("a filter with %d probes a key: must have 1 to %d", s.Hashes, maxHashes)
	}
	return nil
}

// Capacity returns the number of keys at design load: two bits for every probe, 16 bits a key for
// 8 probes. A filter takes more keys, but the rate rises fast.
func (s Shape) Capacity() uint64 { return s.Bits / (2 * uint64(s.Hashes)) }

// Bytes returns the memory of the bits.
func (s Shape) Bytes() uint64 { return s.words() * 8 }

// FalsePositiveRate predicts the false positive rate after items distinct keys were added:
// (1 − e^(−kn/m))^k.
func (s Shape) FalsePositiveRate(items uint64) float64 {
	k := float64(s.Hashes)
	// Expm1 keeps the digits if few bits are set.
	fill := -math.Expm1(-k * float64(items) / float64(s.Bits))
	return math.Pow(fill, k)
}

func (s Shape) words() uint64 { return (s.Bits + 63) / 64 }
