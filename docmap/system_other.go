//go:build !unix

package docmap

// addressSpace is 0 on Windows, where bbolt would make the file that long at once.
func addressSpace() int { return 0 }

func willNeed([]byte) {}
