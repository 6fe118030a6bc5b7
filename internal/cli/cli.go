// Package cli is the command line. It turns flags into checked plans, runs the subcommands, and
// holds all messages to the user. No package below it sees a flag.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/terminal"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// Exit codes, documented in the manual and in --help.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitBadRecords  = 3
	exitFull        = 4
	exitTooManyBad  = 5
	exitInterrupted = 130
	exitReaderGone  = 141
)

var version = ""

func Main() {
	// If the reader ends early (| head), a write must fail, so that the index is left in order.
	signal.Ignore(syscall.SIGPIPE)
	ignoreFileSizeSignal()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup makes it; else closing the terminal ends a run in order
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// A second signal ends the program at once: no checkpoint on disk is ever half done.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var elsewhere []string
	root := newRoot(&elsewhere)
	root.SetArgs(args)
	root.SetIn(terminal.Waiting(stdin, stderr))
	out := &firstError{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.err // cobra ignores errors of printing help
	}
	code := exitCode(ctx, err)
	err = aboutMissing(cmd, err)
	if code == exitUsage && len(elsewhere) > 0 {
		err = usageError{fmt.Errorf("%w (flags are also set in %s)", err, strings.Join(elsewhere, ", "))}
	}
	switch {
	case err == nil || code == exitReaderGone:
	case logs(cmd) && code != exitUsage:
		slog.Error(message(code, err, keepsIndex(cmd)))
	default:
		fmt.Fprintln(stderr, "firstseen:", message(code, err, keepsIndex(cmd)))
	}
	return code
}

// firstError keeps the first error of a writer.
type firstError struct {
	io.Writer
	err error
}

func (w *firstError) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

func (w *firstError) Unwrap() io.Writer { return w.Writer }

// newRoot returns the root command. elsewhere receives the places of flags set elsewhere.
func newRoot(elsewhere *[]string) *cobra.Command {
	root := group("firstseen")
	root.Version, root.SilenceUsage, root.SilenceErrors = versionString(), true, true
	root.SetVersionTemplate(versionText())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().String("config", "", "read flags from this file, one a line, such as memory=1GiB; the command line and FIRSTSEEN_MEMORY and the like take precedence")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if logs(cmd) {
			slog.SetDefault(slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
			cmd.SetErr(logged{})
		}
		places, err := fillFlags(cmd)
		if err != nil {
			return err
		}
		*elsewhere = places
		return checkGiven(cmd.Flags())
	}
	showFlags(root)
	commandGroups(root)
	for cmd := range commands(root) {
		cmd.Flags().SortFlags = false
		completions(cmd)
		flags.Once(cmd.Flags())
	}
	return root
}

// logs reports whether a command runs for days, so that each of its messages is a structured line.
func logs(cmd *cobra.Command) bool { return cmd.Name() == "serve" || cmd.Name() == "follow" }

// logged turns a message for people into a structured line.
type logged struct{}

func (logged) Write(p []byte) (int, error) {
	slog.Warn(strings.TrimPrefix(strings.TrimSpace(string(p)), "firstseen: "))
	return len(p), nil
}

// commands yields a command and all those below it.
func commands(root *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) {
		all := []*cobra.Command{root}
		for len(all) > 0 && yield(all[0]) {
			all = append(all[1:], all[0].Commands()...)
		}
	}
}

func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	words := suggestions(cmd, args[0])
	for c := range commands(cmd) { // stats, for index stats
		if path, is := strings.CutSuffix(c.CommandPath(), " "+args[0]); is && c.Parent() != cmd && !c.Hidden {
			words = append(words, strings.TrimPrefix(path, cmd.CommandPath()+" ")+" "+args[0])
		}
	}
	if cmd.Flags().Lookup(args[0]) != nil {
		words = append(words, "--"+args[0])
	}
	hint := didYouMean(cmd.CommandPath()+" ", words)
	if _, err := os.Stat(args[0]); err == nil {
		switch cmd.Name() {
		case "firstseen":
			hint = "; to read it, use firstseen dedup " + args[0]
		case "report":
			hint = "; to look at it, use firstseen report show " + args[0]
		}
	}
	return usageError{fmt.Errorf("unknown command %q%s (see %s --help)", args[0], hint, cmd.CommandPath())}
}

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage returns an error as a usage error, and no error as none.
func usage(err error) error {
	if err != nil {
		err = usageError{err}
	}
	return err
}

var errInterrupted = errors.New("interrupted")

// exitCode returns the exit code of an error. Among joined errors a failure decides: a run with bad
// records that could not write an output has failed.
func exitCode(ctx context.Context, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case hasFailure(ctx, err):
		return exitFailed
	case errors.Is(err, output.ErrReaderGone), errors.Is(err, syscall.EPIPE):
		return exitReaderGone
	case errors.Is(err, errInterrupted): // even with bad records: the work is not done
		return exitInterrupted
	case errors.Is(err, badrecords.Err):
		return exitBadRecords
	case errors.Is(err, index.ErrFull):
		return exitFull
	case errors.Is(err, pipeline.ErrTooManyBad):
		return exitTooManyBad
	}
	return exitInterrupted
}

// hasFailure reports whether an error, or one joined in it, has no exit code of its own.
func hasFailure(ctx context.Context, err error) bool {
	switch err := err.(type) {
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(err.Unwrap(), func(e error) bool { return hasFailure(ctx, e) })
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			return hasFailure(ctx, inner)
		}
	}
	switch err {
	case output.ErrReaderGone, syscall.EPIPE, badrecords.Err, index.ErrFull, pipeline.ErrTooManyBad, errInterrupted:
		return false
	case context.Canceled:
		return ctx.Err() == nil
	}
	return true
}

// keepsIndex reports whether a command adds to an index that outlasts it.
func keepsIndex(cmd *cobra.Command) bool {
	dir := cmd.Flags().Lookup("index")
	return cmd.Name() == "dedup" && dir != nil && dir.Value.String() != ""
}

// message returns an error's text followed by the remedy.
func message(code int, err error, index bool) string {
	switch {
	case code == exitInterrupted && !errors.Is(err, errInterrupted):
		return errInterrupted.Error()
	case code == exitTooManyBad:
		return fmt.Sprintf("%v; allow more with --limit bad=N, or see them all with firstseen dedup --rejects FILE", err)
	case noRoom(err) && index:
		return fmt.Sprintf("%v; the index is intact up to its last checkpoint: free some space and run the same command again", err)
	case noRoom(err):
		return fmt.Sprintf("%v; free some space and run the same command again", err)
	}
	for _, s := range systemRemedies {
		if errors.Is(err, s.cause) {
			return fmt.Sprintf("%v; %s", err, s.remedy)
		}
	}
	return err.Error()
}

// systemRemedies says what to do about errors of the system, which do not say it.
var systemRemedies = []struct {
	cause  error
	remedy string
}{
	{syscall.EMFILE, "allow more with ulimit -n 256 and run the same command again"},
	{syscall.EADDRINUSE, "another program listens there: stop it, or give another --listen"},
	{syscall.EROFS, "the disk is read-only: give a place on another"},
	{fs.ErrPermission, "this user may not: change the permissions, or choose another place"},
}

// noRoom reports whether the disk is full, the user's quota is used up, or a file has its largest
// size. bbolt returns some of these errors as text only.
func noRoom(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.ENOSPC, syscall.EFBIG, syscall.EDQUOT}, func(cause syscall.Errno) bool {
		return errors.Is(err, cause) || strings.Contains(err.Error(), cause.Error())
	})
}

// versionText describes the program, and the scheme of its new indexes.
func versionText() string {
	return fmt.Sprintf("firstseen %s (%s, %s/%s)\nscheme %s; new indexes, unless made with --no-key, have siphash+highway and the number of their key instead of xxh3\n",
		versionString(), runtime.Version(), runtime.GOOS, runtime.GOARCH, feature.Scheme{}.Name())
}

func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if f := cmd.Flags().Lookup("index"); f != nil && !f.Hidden {
		hint = "; name the index with --index DIR"
	}
	return usageError{fmt.Errorf("%s takes no more arguments, got %q%s", cmd.CommandPath(), args, hint)}
}

func newGenerateCommand() *cobra.Command {
	cmd := command("generate", nil, func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{errors.New("generate: give one folder, for the completions and man pages")}
		}
		now, err := clock()
		if err != nil {
			return usageError{err}
		}
		if err := os.MkdirAll(args[0], 0o777); err != nil {
			return fmt.Errorf("man pages: %w", err)
		}
		root, in := cmd.Root(), func(name string) string { return filepath.Join(args[0], name) }
		date := now()
		for cmd := range commands(root) { // cobra turns the texts into Markdown, and that into man pages
			cmd.Long, cmd.DisableAutoGenTag = indented(cmd.Long), true
		}
		return errors.Join(
			root.GenBashCompletionFileV2(in("firstseen.bash"), true),
			root.GenZshCompletionFile(in("_firstseen")),
			root.GenFishCompletionFile(in("firstseen.fish"), true),
			doc.GenManTree(root, &doc.GenManHeader{Title: "FIRSTSEEN", Section: "1", Date: &date, Source: "firstseen " + versionString(), Manual: "firstseen"}, args[0]),
		)
	})
	cmd.Hidden = true // for packagers
	return cmd
}

// indented turns the lists of a text, which are columns, into Markdown code.
func indented(text string) string {
	var b strings.Builder
	blank := true
	for line := range strings.Lines(text) {
		list := strings.HasPrefix(line, "  ")
		if list && !blank {
			b.WriteString("\n")
		}
		if list {
			b.WriteString("  ")
		}
		b.WriteString(line)
		blank = list || strings.TrimSpace(line) == ""
	}
	return b.String()
}
