package cli

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestHelpIsWrapped checks that help texts and flags fit 90 columns.
func TestHelpIsWrapped(t *testing.T) {
	const columns = 90
	for cmd := range commands(newRoot(new([]string))) {
		for line := range strings.Lines(cmd.Long + "\n" + flagSections("Flags", cmd.LocalFlags(), columns)) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > columns {
				t.Errorf("%s --help: a line of %d: %s", cmd.CommandPath(), n, line)
			}
		}
	}
}

// TestSections checks that each visible flag of dedup is in exactly one section of its help.
func TestSections(t *testing.T) {
	cmd, _, err := newRoot(new([]string)).Find([]string{"dedup"})
	indextest.Must(t, err)
	cmd.InitDefaultHelpFlag()
	help := cmd.UsageString()
	shown := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		n := len(regexp.MustCompile(`(?m)^ +(-\w, )?--`+f.Name+`\b[^-]`).FindAllString(help, -1))
		want := 1
		if f.Hidden {
			want = 0
		}
		if n != want {
			t.Errorf("--%s is in the help %d times, want %d", f.Name, n, want)
		}
		shown += want
	})
	if most := 31; shown > most { // and --config
		t.Errorf("dedup has %d flags, want at most %d", shown, most)
	}
}

const referencePage = "../../docs/reference/commands.md"

// TestReference checks that the page of commands matches the current help.
func TestReference(t *testing.T) {
	t.Setenv("FIRSTSEEN_CONFIG", "")
	var b strings.Builder
	b.WriteString("# Commands\n\nMade of the help by `go test ./internal/cli -run TestReference -update`. Every flag can come\n" +
		"from the environment (`FIRSTSEEN_OUT_DIR`) and from a file (`--config FILE`) too. `firstseen COMMAND --help` says more.\n")
	root := newRoot(new([]string))
	b.WriteString("\n" + indented(helpText("exits")) + "\n")
	dedup := root.Commands()[slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "dedup" })]
	writeReference(&b, root, &[]*cobra.Command{dedup})
	page := b.String()
	if *update {
		indextest.Must(t, os.WriteFile(referencePage, []byte(page), 0o666))
	}
	if was, err := os.ReadFile(referencePage); err != nil || string(was) != page {
		t.Errorf("docs/reference/commands.md is not of this help (%v): go test ./internal/cli -run TestReference -update writes it", err)
	}
}

// writeReference writes the visible commands below cmd. If an earlier command has a flag with the
// same long help, it writes the name alone.
func writeReference(b *strings.Builder, cmd *cobra.Command, told *[]*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		usage := fmt.Sprintf("`%s`: %s.\n", strings.TrimSuffix(sub.UseLine(), " [flags]"), sub.Short)
		indent := ""
		if grouped := cmd.HasParent(); grouped {
			b.WriteString("- " + usage)
			indent = "  "
		} else {
			fmt.Fprintf(b, "\n## %s\n\n%s", sub.CommandPath(), usage)
			if sub.HasLocalFlags() || sub.HasSubCommands() {
				b.WriteString("\n")
			}
		}
		sub.InitDefaultHelpFlag()
		section, dedup := "", (*told)[0]
		alike := map[*cobra.Command]string{}
		sub.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			as := slices.IndexFunc(*told, func(c *cobra.Command) bool {
				flag := c.LocalFlags().Lookup(f.Name)
				return flag != nil && !flag.Hidden && strings.HasPrefix(flag.Usage, f.Usage) && (c == dedup || len(f.Usage) > 30)
			})
			if as >= 0 && sub != dedup {
				alike[(*told)[as]] += ", `--" + f.Name + "`"
				return
			}
			if own := f.Annotations[sectionOf]; own != nil && own[0] != section {
				if section != "" {
					b.WriteString("\n")
				}
				section = own[0]
				fmt.Fprintf(b, "%s:\n\n", section)
			}
			b.WriteString(indent + flagLine(f))
		})
		for _, c := range *told {
			if alike[c] != "" {
				fmt.Fprintf(b, indent+"- as for %s:%s\n", strings.TrimPrefix(c.CommandPath(), "firstseen "), alike[c][1:])
			}
		}
		if !slices.Contains(*told, sub) {
			*told = append(*told, sub)
		}
		writeReference(b, sub, told)
	}
}

// flagLine returns a flag as a list item.
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
