// Package listen opens the sockets of a server, takes over those of systemd, and notifies it.
package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
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

// A Service answers requests.
type Service interface {
	Handler(token string) http.Handler // for clients that send the token, unless ""
	ServeLines(l net.Listener) error
	Failed() <-chan struct{} // closed if it cannot answer any more
	Drain()                  // answers no further requests
	Close() error
}

// Sockets says at which addresses a service answers, in addition to the sockets of systemd.
type Sockets struct {
	Web, Lines []string
	Token      string // for web clients beyond this machine; "" allows none of them
	Optional   bool   // a service without a socket is no error
	// Announce gets the address for commands on the index, and "" at the end.
	Announce func(address string) error
	Tell     func(kind string, at net.Addr) // gets each socket: HTTP or lines
}

// ErrNone is returned for a service without sockets.
var ErrNone = errors.New("there is no address to answer at")

// Serve serves until ctx ends or the service fails. Then it accepts no more connections, answers the
// requests received, and closes the service.
func (f *Sockets) Serve(ctx context.Context, s Service) error {
	var serve errgroup.Group
	var webs []*http.Server
	own := "" // address for commands on the index
	listeners, lines, err := f.open()
	for _, l := range listeners {
		h := f.Token
		if l.Addr().Network() == "unix" {
			h = "" // its file mode controls access
		}
		web := &http.Server{Handler: s.Handler(h), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 256 << 10}
		webs = append(webs, web)
		if own == "" && h == "" {
			own = addressOf(l)
		}
		serve.Go(func() error {
			if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		f.Tell("HTTP", l.Addr())
	}
	for _, l := range lines {
		serve.Go(func() error { return s.ServeLines(l) })
		f.Tell("lines", l.Addr())
	}
	if err == nil && len(webs)+len(lines) == 0 && !f.Optional {
		err = ErrNone
	}
	if err == nil {
		err = errors.Join(f.Announce(own), Notify("READY=1"))
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case <-s.Failed():
		}
	}
	s.Drain()
	err = errors.Join(err, f.Announce(""), Notify("STOPPING=1"))
	for _, l := range lines {
		err = errors.Join(err, l.Close())
	}
	patience, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, web := range webs {
		if web.Shutdown(patience) != nil { // a client still sends: it gets no answer
			_ = web.Close()
		}
	}
	return errors.Join(err, serve.Wait(), s.Close())
}

// open opens all sockets. On error it returns the open ones.
func (f *Sockets) open() (webs, lines []net.Listener, err error) {
	webs, lines, err = Inherited()
	for i, l := range slices.Concat(webs, lines) {
		a := l.Addr()
		if a.Network() != "unix" && (i >= len(webs) || f.Token == "" && !Private(a.String())) {
			return nil, nil, fmt.Errorf("the socket %s of systemd is open to others: HTTP beyond this machine needs --token-file, and lines want a unix socket", a)
		}
	}
	open := func(to *[]net.Listener, addresses []string) {
		for _, address := range addresses {
			if err != nil {
				return
			}
			var l net.Listener
			if l, err = Listen(address); err == nil {
				*to = append(*to, l)
			}
		}
	}
	open(&webs, f.Web)
	open(&lines, f.Lines)
	return webs, lines, err
}

// addressOf returns the address of a socket, for clients on this machine.
func addressOf(l net.Listener) string {
	address := l.Addr().String()
	if l.Addr().Network() != "unix" {
		return "http://" + address
	}
	if whole, err := filepath.Abs(address); err == nil {
		address = whole
	}
	return "unix:" + address
}
