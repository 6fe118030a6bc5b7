package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const referencePage = "../../docs/reference/commands.md"

// TestReference: the page of commands has the help of each, as it is now.
func TestReference(t *testing.T) {
	t.Setenv("FIRSTSEEN_CONFIG", "")
	var b strings.Builder
	b.WriteString("# Commands\n\nMade of the help by `go test ./internal/cli -run TestReference -update`. Every flag can come\n" +
		"from the environment (`FIRSTSEEN_MAX_BAD`) and from a file (`--config FILE`) too. `firstseen COMMAND --help` says more.\n")
	root := newRoot(new([]string))
	b.WriteString("\n" + indented(helpText("exits")) + "\n")
	writeReference(&b, root, root.Commands()[slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "dedup" })])
	page := b.String()
	if *update {
		if err := os.WriteFile(referencePage, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(referencePage); err != nil || string(was) != page {
		t.Errorf("docs/reference/commands.md is not of this help (%v): go test ./internal/cli -run TestReference -update writes it", err)
	}
}

// writeReference writes the visible commands below one.
func writeReference(b *strings.Builder, cmd, dedup *cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n    %s\n\n%s.\n", sub.CommandPath(), sub.UseLine(), sub.Short)
		sub.InitDefaultHelpFlag()
		section := ""
		var alike []string
		sub.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if as := dedup.Flags().Lookup(f.Name); sub != dedup && as != nil && !as.Hidden && strings.HasPrefix(as.Usage, f.Usage) {
				alike = append(alike, "`--"+f.Name+"`")
				return
			}
			if own := f.Annotations[sectionOf]; own != nil && own[0] != section {
				section = own[0]
				fmt.Fprintf(b, "\n%s:\n\n", section)
			} else if section == "" {
				section = "-"
				b.WriteString("\n")
			}
			b.WriteString(flagLine(f))
		})
		if alike != nil {
			fmt.Fprintf(b, "\nAs for dedup: %s.\n", strings.Join(alike, ", "))
		}
		writeReference(b, sub, dedup)
	}
}

// flagLine returns a flag as an item of a list.
func flagLine(f *pflag.Flag) string {
	name, usage := pflag.UnquoteUsage(f)
	spelling := strings.TrimSpace("--" + f.Name + " " + name)
	if f.Shorthand != "" {
		spelling = "-" + f.Shorthand + ", " + spelling
	}
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && d != "-1" && !strings.Contains(usage, "(default") {
		usage += " (default " + d + ")"
	}
	return fmt.Sprintf("- `%s`: %s\n", spelling, usage)
}
