package fleet

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// node is a front end or a follower, which is restarted when it ends.
type node struct {
	dir, name string
	args      []string

	mu      sync.Mutex
	program string // of the next start
	cmd     *exec.Cmd
	said    *output
	starts  int
	ended   int // exits not caused by a signal
}

// output is what a process writes while others read it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// keep runs the node until ctx ends, and then shuts it down cleanly.
func (n *node) keep(ctx context.Context) error {
	for {
		said := &output{}
		n.mu.Lock()
		cmd := exec.Command(n.program, n.args...)
		cmd.Dir, cmd.Stderr = n.dir, said
		err := cmd.Start()
		n.cmd, n.said = cmd, said
		n.starts++
		n.mu.Unlock()
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
		err = cmd.Wait()
		asked := !stop()
		switch {
		case asked && err == nil:
			return nil
		case strings.Contains(said.String(), "goroutine ") || asked:
			return fmt.Errorf("%s: %w\n%s", n.name, err, said)
		case cmd.ProcessState.ExitCode() >= 0: // not ended by a signal
			n.ended++
		}
		if pause(ctx, 300*time.Millisecond) != nil {
			return fmt.Errorf("%s was not running at the end: %s", n.name, said)
		}
	}
}

// stacks ends the node, and returns its output with the stacks of its goroutines.
func (n *node) stacks() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
	time.Sleep(time.Second)
	return n.said.String()
}

// kill ends the node, and returns the number of its starts so far. It goes on as another program.
func (n *node) kill(program string) (starts int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.program = program
	if n.cmd != nil {
		_ = n.cmd.Process.Kill() // it may have ended
	}
	return n.starts
}

// begun returns the number of starts so far.
func (n *node) begun() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.starts
}
