package docmap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func init() { children["read"] = childReads }

// childReads has a table open until its input ends.
func childReads(path string) error {
	table, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	fmt.Println("it reads")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, table.Close())
}

// startReader starts a process that reads a table, and ends it with the test.
func startReader(t *testing.T, path string) (pid int, stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = childEnviron("read")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "it reads\n" || err != nil {
		t.Fatalf("it said %q, %v", line, err)
	}
	return cmd.Process.Pid, func() { must(t, errors.Join(in.Close(), cmd.Wait())) }
}

// TestHolderIsNamed: a writer that cannot start names the reader.
func TestHolderIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	must(t, table.Checkpoint(nil))
	refused := func(pid int) {
		t.Helper()
		_, err := Open(path, smallOptions)
		if want := fmt.Sprintf("(process %d): wait for it to end", pid); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	must(t, table.Close())
	pid, stop := startReader(t, path)
	refused(pid)
	stop()
	mustOpen(t, path, smallOptions)
}
