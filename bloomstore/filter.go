package bloomstore

import (
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// maxScheme is the longest name of a scheme, in bytes.
const maxScheme = 255

// A Filter is a Bloom filter of 64-bit keys. Any number of goroutines may Test, or AddShared, at
// the same time; everything else needs the filter for itself. After Close only Close and Closed
// may be called.
type Filter struct {
	shape   Shape
	scheme  string
	modulus modulus
	mem     []byte   // from hugemem
	words   []uint64 // mem, as words
	items   uint64
	ones    uint64
	scratch [blockPositions]uint64
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
