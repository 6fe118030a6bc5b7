package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelpIsWrapped: the texts of the help fit a window.
func TestHelpIsWrapped(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Long) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 90 {
				t.Errorf("%s --help: a line of %d: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot(new([]string)))
}

// TestHelpOfInputs: what INPUT can be is told.
func TestHelpOfInputs(t *testing.T) {
	for _, part := range []string{"a tar or zip archive", "ARCHIVE/MEMBER", "its *.csv and *.tsv"} {
		if !strings.Contains(dedupLong, part) {
			t.Errorf("dedup --help does not have %q", part)
		}
	}
}

// TestSections: each flag of dedup that is shown is in one section of its help.
func TestSections(t *testing.T) {
	cmd, _, err := newRoot(new([]string)).Find([]string{"dedup"})
	if err != nil {
		t.Fatal(err)
	}
	cmd.InitDefaultHelpFlag()
	in := map[string]int{}
	for _, s := range dedupSections {
		for name := range strings.FieldsSeq(s.flags) {
			in[name]++
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if n := in[f.Name]; !f.Hidden && n != 1 {
			t.Errorf("--%s is in %d sections", f.Name, n)
		}
		delete(in, f.Name)
	})
	for name := range in {
		t.Errorf("there is no --%s", name)
	}
}
