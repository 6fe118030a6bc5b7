package listen

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestBusySocketStays checks that a server too busy to take connections keeps its socket.
func TestBusySocketStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	busy, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(busy)
	if err := syscall.Bind(busy, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(busy, 0); err != nil {
		t.Fatal(err)
	}
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 { // fill its queue
		c, err := net.Dial("unix", path)
		if err != nil {
			break
		}
		defer c.Close()
	}
	if l, err := Listen("unix:" + path); err == nil {
		l.Close()
		t.Error("another server listens at the same path")
	}
	if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the socket of the busy server is gone: %v", err)
	}
}
