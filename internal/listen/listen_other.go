//go:build !unix

package listen

import "net"

// listenPrivate makes the socket. Its folder decides who reaches it.
func listenPrivate(path string) (net.Listener, error) { return net.Listen("unix", path) }
