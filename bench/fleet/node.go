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
	said    *bytes.Buffer
	ended   int // exits not caused by a signal
}

// keep runs the node until ctx ends, and then shuts it down cleanly.
func (n *node) keep(ctx context.Context) error {
	for {
		said := &bytes.Buffer{}
		n.mu.Lock()
		cmd := exec.Command(n.program, n.args...)
		cmd.Dir, cmd.Stderr = n.dir, said
		err := cmd.Start()
		n.cmd, n.said = cmd, said
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

// kill ends the node. It goes on as another program.
func (n *node) kill(program string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.program = program
	_ = n.cmd.Process.Kill() // it may have ended
}
