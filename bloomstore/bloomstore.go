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
// knows that library can read what [Filter.Export] writes. It is faster because
// it takes a batch: first the positions of all keys, then all reads, so that
// tens of cache misses are under way at once, then all writes.
//
// The name of the scheme says how keys were made. It is stored with the filter
// and a filter of another scheme is refused: its answers would be noise.
//
// The package knows nothing of texts. docs/format.md has the layout of the file.
package bloomstore

import "errors"

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
