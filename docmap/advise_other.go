//go:build !unix

package docmap

// willNeed is advice some systems take.
func willNeed([]byte) {}
