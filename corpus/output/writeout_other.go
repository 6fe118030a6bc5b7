//go:build !linux

package output

// writeOut has the system begin to write where it can be told to.
func writeOut(outFile, int64, int64) {}
