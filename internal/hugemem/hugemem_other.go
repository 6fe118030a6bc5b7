//go:build !linux

package hugemem

func reserve(n int) ([]byte, error) { return make([]byte, n), nil }

// Machine is 0: it is not known how much memory there is.
func Machine() uint64 { return 0 }

func release([]byte) error { return nil }
