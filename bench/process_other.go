//go:build !linux

package main

import "os"

// readMemory returns nothing on other systems.
func readMemory() memory { return memory{} }

func dropCache(string) bool { return false }

func peakMemory(*os.ProcessState) int64 { return 0 }
