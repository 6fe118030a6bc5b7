// Package crash runs firstseen from outside, disturbs it, and compares the result with that of an
// undisturbed run.
//
// [Kills] sends signals at random instants and repeats the command. [Faults] makes the n-th system
// call fail. Both use the program by its command line alone, and read an index through the packages
// that own it. A seed and the trial's number determine every choice, so a trial can be repeated.
// The instants depend on the machine.
package crash

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience limits a run of the program. Most take less than a second; some machines are busy.
const patience = 60 * time.Second

// Program is a built firstseen.
type Program struct{ path string }

// Build builds the package into dir.
func Build(ctx context.Context, pkg, dir string) (*Program, error) {
	p := &Program{filepath.Join(dir, "firstseen")}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", p.path, pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return p, nil
}

// command returns the program in a folder, with a fixed time for its documents.
func (p *Program) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	return p.under(ctx, dir, nil, args...)
}

// under returns the program started by another one, which gets it as its last arguments.
func (p *Program) under(ctx context.Context, dir string, by []string, args ...string) *exec.Cmd {
	all := append(append(append([]string{}, by...), p.path), args...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "TMPDIR="+dir)
	cmd.Stderr = &bytes.Buffer{}
	cmd.WaitDelay = time.Second // a tracer's children may hold its standard error
	return cmd
}

// said returns the standard error of a command.
func said(cmd *exec.Cmd) string { return cmd.Stderr.(*bytes.Buffer).String() }

// run runs the program to its end.
func (p *Program) run(ctx context.Context, dir string, args ...string) (code int, stderr string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := p.command(ctx, dir, args...)
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return -1, fmt.Sprint(err)
	}
	return cmd.ProcessState.ExitCode(), said(cmd)
}

// isOurFault reports whether stderr is a stack trace and not a message for a user.
func isOurFault(stderr string) bool {
	return strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic:")
}

// Path returns the path of the program.
func (p *Program) Path() string { return p.path }
