//go:build !linux

package filetest

// AsNobody calls f with the rights of the process.
func AsNobody(f func()) { f() }
