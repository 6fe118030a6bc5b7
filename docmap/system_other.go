//go:build !unix

package docmap

// addressSpace returns 0: on Windows, bbolt would extend the file to the given size at once.
func addressSpace() int { return 0 }

func willNeed([]byte) {}
