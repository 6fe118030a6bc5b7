//go:build unix

package listen

import (
	"net"
	"syscall"
)

// listenPrivate makes the socket with its mode. A later chmod would leave it open to others for a
// moment.
func listenPrivate(path string) (net.Listener, error) {
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	return net.Listen("unix", path)
}
