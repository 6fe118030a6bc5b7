package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// noInsides fails if a message has words that only a reader of the source understands.
func noInsides(t *testing.T, said string) {
	t.Helper()
	for _, inside := range []string{"context canceled", "strconv", "json:", "%!", "goroutine", "0x"} {
		if strings.Contains(said, inside) {
			t.Errorf("it said %q, and so %q", said, inside)
		}
	}
}

// TestInterruptedMessages checks that messages say whether a run can go on, not how it stopped.
func TestInterruptedMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "in.jsonl", documents(50))
	runHere(t, "dedup", "-q", "--docs", "1k", "--index", "made", "in.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct{ args, want string }{
		{"dedup --docs 1k --index a in.jsonl", "interrupted before the first checkpoint: nothing is remembered, and the same command starts over"},
		{"dedup --docs 1k --index b --out /dev/null in.jsonl", "interrupted before the first checkpoint: nothing is remembered, and the same command starts over"},
		{"dedup --docs 1k in.jsonl", "interrupted; nothing is remembered, run the same command again"},
		{"dedup --docs 1k --filter-only --index c in.jsonl", "interrupted; nothing is remembered, run the same command again"},
		{"dedup --docs 1k --index d --out - in.jsonl", "interrupted; a run that writes to a pipe cannot be continued"},
		{"query --index made in.jsonl", "interrupted"},
		{"plan in.jsonl", "interrupted"},
		{"index check made", "interrupted\n"},
	} {
		if strings.Contains(c.args, "/dev/null") && filepath.Separator != '/' {
			continue
		}
		var said bytes.Buffer
		code := run(ctx, strings.Fields(c.args), strings.NewReader(""), &said, &said)
		if code != exitInterrupted || !strings.Contains(said.String(), "firstseen: "+c.want) {
			t.Errorf("%s: exit code %d, %q", c.args, code, said.String())
		}
		noInsides(t, said.String())
	}
}

// TestSystemRemedies checks that errors of the system get a remedy, which they lack.
func TestSystemRemedies(t *testing.T) {
	for _, c := range []struct {
		cause syscall.Errno
		want  string
	}{
		{syscall.ENOSPC, "; free some space and run the same command again"},
		{syscall.EMFILE, "; allow more with ulimit -n 256 and run the same command again"},
		{syscall.EADDRINUSE, "; another program listens there: stop it, or give another --listen"},
		{syscall.EROFS, "; the disk is read-only: give a place on another"},
		{syscall.EACCES, "; this user may not: change the permissions, or choose another place"},
		{syscall.EPERM, "; this user may not: change the permissions, or choose another place"},
	} {
		err := fmt.Errorf("creating output: %w", &fs.PathError{Op: "open", Path: "a", Err: c.cause})
		if got := message(exitFailed, err, false); got != err.Error()+c.want {
			t.Errorf("%v: %q, want %q", c.cause, got, c.want)
		}
	}
}

// TestExitCodes checks that an error with a special exit code hides no failure beside it.
func TestExitCodes(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	failure := fmt.Errorf("writing: %w", syscall.ENOSPC)
	for _, c := range []struct {
		err  error
		want int
	}{
		{fmt.Errorf("%w: 3 lines", badrecords.Err), exitBadRecords},
		{fmt.Errorf("%w; go on", index.ErrFull), exitFull},
		{fmt.Errorf("%w: 3", pipeline.ErrTooManyBad), exitTooManyBad},
		{fmt.Errorf("reading: %w", context.Canceled), exitInterrupted},
		{fmt.Errorf("writing: %w", syscall.EPIPE), exitReaderGone},
		{failure, exitFailed},
	} {
		if got := exitCode(over, c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
		for _, both := range []error{errors.Join(c.err, failure), fmt.Errorf("a run: %w", errors.Join(failure, c.err))} {
			if got := exitCode(over, both); got != exitFailed {
				t.Errorf("%v: %d, want %d", both, got, exitFailed)
			}
		}
	}
	if got := exitCode(t.Context(), context.Canceled); got != exitFailed {
		t.Errorf("canceled by nobody: %d", got)
	}
	if got := exitCode(over, errors.Join(usageError{badrecords.Err}, failure)); got != exitUsage {
		t.Errorf("wrong usage: %d", got)
	}
}

// TestNoRoomMessages checks that only a command that keeps an index mentions one.
func TestNoRoomMessages(t *testing.T) {
	full := fmt.Errorf("writing: %w", syscall.ENOSPC)
	const again = "free some space and run the same command again"
	for args, want := range map[string]bool{
		"dedup --index seen in.jsonl": true, "dedup in.jsonl": false, "index check seen": false, "plan in.jsonl": false,
	} {
		cmd, rest, err := newRoot(new([]string)).Find(strings.Fields(args))
		indextest.Must(t, err)
		indextest.Must(t, cmd.ParseFlags(rest))
		got := message(exitFailed, full, keepsIndex(cmd))
		if !strings.HasSuffix(got, again) || strings.Contains(got, "the index is intact") != want {
			t.Errorf("%s: %q", args, got)
		}
	}
}
