package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed help
var helpFiles embed.FS

// command returns a command with the words of its file in help. The first line there is its usage,
// the second says what it does. Its description follows, and its examples behind a line "Examples:".
func command(name string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	use, rest, _ := strings.Cut(helpText(name), "\n")
	short, rest, _ := strings.Cut(rest, "\n")
	long, examples, _ := strings.Cut(rest, "\nExamples:\n")
	return &cobra.Command{Use: use, Short: short, Long: strings.TrimSpace(long), Example: examples, Args: args, RunE: run}
}

// helpText returns a file of help, with the parts that several share, or that the code has.
func helpText(name string) string {
	text, err := helpFiles.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	whole := strings.ReplaceAll(string(text), "{{methods}}", methodsHelp())
	if strings.Contains(whole, "{{exits}}") {
		whole = strings.ReplaceAll(whole, "{{exits}}", helpText("exits"))
	}
	return strings.TrimRight(whole, "\n")
}

// group returns a command of commands.
func group(name string, commands ...*cobra.Command) *cobra.Command {
	cmd := command(name, knownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(commands...)
	return cmd
}
