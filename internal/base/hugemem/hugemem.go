// Package hugemem allocates large zeroed blocks outside the Go heap, in huge pages if available.
//
// The filter and the table of recent keys are read at random. With 4 KiB pages every probe of a 1
// GiB block also misses the TLB. Outside the heap the blocks neither delay the garbage collector
// nor double its target.
package hugemem

import "fmt"

// Alloc returns n zeroed bytes aligned to a page. The system commits memory on first touch. The
// block must be released with Free, because the garbage collector does not manage it.
func Alloc(n int) ([]byte, error) {
	b, err := AllocSparse(n)
	if err == nil {
		advise(b)
	}
	return b, err
}

// AllocSparse is Alloc in small pages, until Gather. It is for a block that is touched at a few
// random places: each touch commits 4 KiB and not 2 MiB.
func AllocSparse(n int) ([]byte, error) {
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

// Gather turns a block of AllocSparse into one of Alloc. Its touched parts move to huge pages at once
// (Linux 6.1) or gradually. The block may be used meanwhile.
func Gather(b []byte) {
	advise(b)
	collapse(b)
}

// Free releases a block from Alloc. Its memory must not be touched afterwards. Freeing nil is
// allowed.
func Free(b []byte) error {
	if b == nil {
		return nil
	}
	return release(b)
}
