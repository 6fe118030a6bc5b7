package cli

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
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

// TestHelpOfInputs checks that the help describes the kinds of INPUT.
func TestHelpOfInputs(t *testing.T) {
	for _, part := range []string{"a tar or zip archive", "ARCHIVE/MEMBER", "its *.csv and *.tsv"} {
		if !strings.Contains(helpText("dedup"), part) {
			t.Errorf("dedup --help does not have %q", part)
		}
	}
}

// TestSections checks that each visible flag of dedup is in exactly one section of its help.
func TestSections(t *testing.T) {
	cmd, _, err := newRoot(new([]string)).Find([]string{"dedup"})
	if err != nil {
		t.Fatal(err)
	}
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
