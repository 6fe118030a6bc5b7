package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/firstseen/firstseen/feature"
)

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
