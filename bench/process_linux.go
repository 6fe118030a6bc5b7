package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// readMemory adds up the pages of the process.
func readMemory() (m memory) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return m
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
		if err != nil {
			continue
		}
		switch string(fields[0]) {
		case "Rss:":
			m.Resident = kib << 10
		case "Anonymous:":
			m.Anonymous = kib << 10
		}
	}
	return m
}

// dropCache drops a file's pages from the process and the page cache, if it can, and reports it.
func dropCache(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if f.Sync() != nil || !unmapPages(path) {
		return false
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) == nil
}

// unmapPages removes the pages of a file's mappings from the process. A touch brings them back.
func unmapPages(path string) bool {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return false
	}
	defer maps.Close()
	done := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		line := lines.Bytes()
		if !bytes.HasSuffix(line, []byte(path)) {
			continue
		}
		if _, err := fmt.Sscanf(string(line), "%x-%x", &from, &to); err != nil {
			return false
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); errno != 0 {
			return false
		}
		done = true
	}
	return done
}
