// Package hugemem hands out large zeroed blocks of memory outside the Go heap. They are backed by
// huge pages if the system has them.
//
// The filter and the table of recent keys are read at random: with 4 KiB pages
// every probe of a 1 GiB block also misses the TLB. Outside the heap the blocks
// neither delay the garbage collector nor double its target.
package hugemem

import "fmt"

// Alloc returns n zeroed bytes aligned to a page. Memory is committed by the
// system on first touch. The block must be given back with Free; the garbage
// collector does not know it.
func Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("allocating %d bytes: negative size", n)
	}
	if n == 0 {
		return nil, nil
	}
	b, err := reserve(n)
	if err != nil {
		return nil, fmt.Errorf("allocating %d bytes: %w", n, err)
	}
	return b, nil
}

// Free gives a block from Alloc back to the system. The block, and every slice of that memory, must
// not be touched afterwards. Freeing nil is allowed.
func Free(b []byte) error {
	if b == nil {
		return nil
	}
	return release(b)
}
