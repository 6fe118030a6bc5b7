//go:build !linux

package main

// readMemory returns nothing on other systems.
func readMemory() memory { return memory{} }

func dropCache(string) bool { return false }
