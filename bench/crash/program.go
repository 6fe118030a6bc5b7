// Package crash runs firstseen from outside, harms it on the way, and compares
// what it comes to with a run that nobody disturbed.
//
// [Kills] sends signals at random instants and then gives the same command again,
// [Faults] has the n-th system call fail. Both know the program by its command
// line alone; what an index holds is read through the packages that own it. Every
// choice of a trial follows from a seed and the trial's number, so one trial can be
// repeated; the instants themselves are those of the machine.
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

// patience is how long any run of the program may take. They take less than a
// second; the rest is for machines with other work.
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

// command is the program in a folder, with a fixed time for its documents.
func (p *Program) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	return p.under(ctx, dir, nil, args...)
}

// under is the program started by another one, which gets it as its last
// arguments.
func (p *Program) under(ctx context.Context, dir string, by []string, args ...string) *exec.Cmd {
	all := append(append(append([]string{}, by...), p.path), args...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "TMPDIR="+dir)
	cmd.Stderr = &bytes.Buffer{}
	cmd.WaitDelay = time.Second // a tracer's children may hold its standard error
	return cmd
}

// said is the standard error of a command.
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

// knows reports whether dedup has a flag.
func (p *Program) knows(ctx context.Context, flag string) bool {
	_, stderr := p.run(ctx, os.TempDir(), "dedup", flag)
	return !strings.Contains(stderr, "unknown flag")
}

// isOurFault reports whether a message is not one for a user but a stack.
func isOurFault(stderr string) bool {
	return strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic:")
}

// Path is the path of the program.
func (p *Program) Path() string { return p.path }
