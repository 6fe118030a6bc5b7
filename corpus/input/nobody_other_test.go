//go:build !linux

package input

// asNobody calls f with the rights of the process.
func asNobody(f func()) { f() }
