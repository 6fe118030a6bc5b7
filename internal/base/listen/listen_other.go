//go:build !unix

package listen

import "net"

// listenPrivate opens the socket. The permissions of its folder decide who can reach it.
func listenPrivate(path string) (net.Listener, error) { return net.Listen("unix", path) }
