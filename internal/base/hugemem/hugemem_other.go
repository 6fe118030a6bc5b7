//go:build !linux

package hugemem

func reserve(n int) ([]byte, error) { return make([]byte, n), nil }

func advise([]byte) {}

func collapse([]byte) {}

// Machine returns 0: the size of the memory is unknown.
func Machine() uint64 { return 0 }

func release([]byte) error { return nil }
