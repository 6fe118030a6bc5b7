package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// load holds the options and state of a trial of a server.
type load struct {
	clients, together int
	idle, slow        int     // connections beside them
	rate              float64 // documents per second over all clients, 0 for no limit
	lasts             time.Duration
	every             time.Duration // between two lines of figures
	window            string
	program, dir      string
	out               io.Writer

	next  atomic.Int64
	mu    sync.Mutex
	times []time.Duration // of the answers since the last line
}

// serve starts a server and measures its rate, answers, checkpoints, memory and descriptors.
func serve(ctx context.Context, args []string, out io.Writer) (err error) {
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	l := load{out: out}
	fs.IntVar(&l.clients, "clients", 16, "clients")
	fs.IntVar(&l.together, "together", 1, "documents of a request")
	fs.IntVar(&l.idle, "idle", 0, "connections that send nothing more after one answer")
	fs.IntVar(&l.slow, "slow", 0, "connections that send a byte of a document in a second")
	fs.Float64Var(&l.rate, "rate", 0, "documents a second of all clients; 0 for no bound")
	fs.DurationVar(&l.lasts, "for", time.Minute, "how long")
	fs.DurationVar(&l.every, "every", 20*time.Second, "how long a line of figures stands for")
	fs.StringVar(&l.window, "window", "", "window of the index, such as 1m")
	fs.StringVar(&l.program, "program", "", "the program; without it it is built")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if l.dir, err = os.MkdirTemp("", "serve"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(l.dir)) }()
	if l.program == "" {
		l.program = filepath.Join(l.dir, "firstseen")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", l.program, ".").CombinedOutput(); err != nil {
			return errors.Join(err, errors.New(string(out)))
		}
	}
	return l.run(ctx)
}

func (l *load) run(ctx context.Context) (err error) {
	socket := "unix:" + filepath.Join(l.dir, "s")
	args := []string{"serve", "--index", filepath.Join(l.dir, "seen"), "--listen", socket}
	if l.window != "" {
		args = append(args, "--window", l.window)
	}
	cmd := exec.Command(l.program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()) }()
	ctx, cancel := context.WithTimeout(ctx, l.lasts)
	defer cancel()
	if err := l.beside(ctx, socket); err != nil {
		return err
	}
	var all sync.WaitGroup
	failed := make(chan error, l.clients)
	for range l.clients {
		all.Go(func() {
			if err := l.client(ctx, socket); err != nil && ctx.Err() == nil {
				failed <- err
				cancel()
			}
		})
	}
	for ctx.Err() == nil {
		before, begun := l.next.Load(), time.Now()
		select {
		case <-ctx.Done():
		case <-time.After(l.every):
		}
		l.line(float64(l.next.Load()-before)/time.Since(begun).Seconds(), cmd.Process.Pid)
	}
	all.Wait()
	l.checkpoints(socket)
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// beside opens the idle and the slow connections. They end with ctx.
func (l *load) beside(ctx context.Context, socket string) error {
	for n := range l.idle + l.slow {
		c, err := reach(ctx, socket)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = c.Close() })
		if n < l.idle {
			_, err = io.WriteString(c, "GET /livez HTTP/1.1\r\nHost: server\r\n\r\n")
			if err == nil {
				_, err = c.Read(make([]byte, 1<<10))
			}
		} else {
			_, err = io.WriteString(c, "POST /v1/see HTTP/1.1\r\nHost: server\r\nContent-Length: 1000000\r\n\r\n{")
			go func() {
				for {
					if _, err := c.Write([]byte(" ")); err != nil || ctx.Err() != nil {
						return
					}
					time.Sleep(time.Second)
				}
			}()
		}
		if err != nil {
			return fmt.Errorf("connection %d: %w", n, err)
		}
	}
	return nil
}

// reach connects to a server, which may still be starting.
func reach(ctx context.Context, socket string) (c net.Conn, err error) {
	for ctx.Err() == nil {
		if c, err = net.Dial("unix", strings.TrimPrefix(socket, "unix:")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return c, errors.Join(err, ctx.Err())
}

// client submits documents until ctx ends. Every tenth text is a copy.
func (l *load) client(ctx context.Context, socket string) error {
	c, err := client.New(socket)
	if err != nil {
		return err
	}
	for begun := time.Now(); ctx.Err() == nil; {
		at := int(l.next.Add(int64(l.together))) - l.together
		docs := make([]client.Document, l.together)
		for i := range docs {
			n := at + i
			docs[i].ID = fmt.Sprint(n)
			if n%10 == 9 {
				n = max(0, n-100)
			}
			docs[i].Text = indextest.Sentences(n) + " " + indextest.Sentences(-n-1)
		}
		if l.rate > 0 {
			time.Sleep(time.Duration(float64(at)/l.rate*float64(time.Second)) - time.Since(begun))
		}
		asked := time.Now()
		if _, err := c.See(ctx, docs); err != nil {
			return err
		}
		l.mu.Lock()
		l.times = append(l.times, time.Since(asked))
		l.mu.Unlock()
	}
	return nil
}

// line prints the figures since the last line.
func (l *load) line(rate float64, pid int) {
	l.mu.Lock()
	times := l.times
	l.times = nil
	l.mu.Unlock()
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // none except on Linux
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, resident, _ := strings.Cut(string(status), "RssAnon:")
	resident, _, _ = strings.Cut(resident, "\n")
	fmt.Fprintf(l.out, "%9d documents, %.0f/s; answers p50 %v, p99 %v, most %v; anonymous memory %s, %d descriptors\n",
		l.next.Load(), rate, times[len(times)/2].Round(10*time.Microsecond), times[len(times)*99/100].Round(10*time.Microsecond), times[len(times)-1].Round(10*time.Microsecond),
		strings.TrimSpace(resident), len(files))
}

// checkpoints prints how long checkpoints, and parts of them, have blocked the server.
func (l *load) checkpoints(socket string) {
	c, err := client.New(socket)
	if err != nil {
		return
	}
	r, err := c.HTTP.Get(c.URL + "/metrics")
	if err != nil {
		return
	}
	defer r.Body.Close()
	all, _ := io.ReadAll(r.Body)
	for line := range strings.Lines(string(all)) {
		if strings.HasPrefix(line, "firstseen_checkpoint_seconds") {
			fmt.Fprint(l.out, line)
		}
	}
}
