// Package listen opens the sockets of a server, takes over those of systemd, and notifies it.
package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Listen opens the socket of an address, unix:PATH or HOST:PORT. A unix socket has mode 0600, and
// replaces one left by a killed server.
func Listen(address string) (net.Listener, error) {
	path, unix := strings.CutPrefix(address, "unix:")
	if !unix {
		return net.Listen("tcp", address)
	}
	l, err := listenPrivate(path)
	if err == nil {
		return l, nil
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode()&os.ModeSocket == 0 {
		return nil, err
	}
	c, dialErr := net.DialTimeout("unix", path, time.Second)
	if dialErr == nil {
		dialErr = c.Close()
	}
	if !errors.Is(dialErr, syscall.ECONNREFUSED) { // a busy server gives other errors
		return nil, errors.Join(fmt.Errorf("%s: another server listens there: give another path", path), dialErr)
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return listenPrivate(path)
}

// Private reports whether only processes on this machine can reach an address.
func Private(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// Inherited returns the sockets that systemd opened: those named "lines" as lines, others as web.
func Inherited() (web, lines []net.Listener, err error) {
	n, bad := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if bad != nil || os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil, nil
	}
	names := strings.Split(os.Getenv("LISTEN_FDNAMES"), ":")
	for i := range n {
		f := os.NewFile(uintptr(3+i), "socket of systemd")
		l, err := net.FileListener(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, nil, fmt.Errorf("socket %d of systemd: %w", i, err)
		}
		if i < len(names) && names[i] == "lines" {
			lines = append(lines, l)
		} else {
			web = append(web, l)
		}
	}
	return web, lines, nil
}

// Notify reports a state, such as READY=1, to systemd if it started this process.
func Notify(state string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	c, err := net.Dial("unixgram", path)
	if err != nil {
		return fmt.Errorf("notifying systemd: %w", err)
	}
	_, err = c.Write([]byte(state))
	return errors.Join(err, c.Close())
}
