//go:build unix

package listen

import (
	"net"
	"syscall"
)

// listenPrivate opens the socket with mode 0600. A later chmod would leave it open for a moment.
func listenPrivate(path string) (net.Listener, error) {
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	return net.Listen("unix", path)
}
