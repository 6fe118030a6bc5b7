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
	program, dir, name string
	args               []string

	mu    sync.Mutex
	cmd   *exec.Cmd
	said  *bytes.Buffer
	ended int // exits not caused by a signal
}

// keep runs the node until ctx ends, and then shuts it down cleanly.
func (n *node) keep(ctx context.Context) error {
	for {
		cmd := exec.Command(n.program, n.args...)
		cmd.Dir = n.dir
		said := &bytes.Buffer{}
		cmd.Stderr = said
		n.mu.Lock()
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

func (n *node) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.cmd.Process.Kill() // it may have ended
}
