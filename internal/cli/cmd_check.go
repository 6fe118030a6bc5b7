package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/ask"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/progress"
)

// errUnsound is the error of a check that found damage.
var errUnsound = errors.New("it is not sound; each finding names its remedy")

type checking struct {
	printed
	rebuild, quiet bool
}

func newCheckCommand() *cobra.Command {
	var f checking
	cmd := onIndex("index-check", noArgs, f.run)
	fs := cmd.Flags()
	fs.BoolVar(&f.rebuild, "rebuild", false, "rebuild the filter if it is missing, old or damaged")
	f.printed.register(fs)
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress on standard error")
	return cmd
}

func (f *checking) run(cmd *cobra.Command, dir string, _ []string) error {
	found, err := f.check(cmd, dir)
	if err != nil {
		return err
	}
	err = f.print(cmd, found, "check", struct {
		*index.Checked
		Shown []string
	}{found, shown(found.Findings)})
	if err == nil && !found.Sound {
		err = fmt.Errorf("index %s: %w", dir, errUnsound)
	}
	return err
}

// check asks the server that holds the index, or else reads the index.
func (f *checking) check(cmd *cobra.Command, dir string) (*index.Checked, error) {
	if !f.rebuild {
		if found, err := ask.Check(cmd.Context(), dir); found != nil || err != nil {
			return found, err
		}
	}
	var drawn func(string, uint64, uint64)
	if !f.quiet {
		bar, stop := progress.OfCheck(cmd.ErrOrStderr())
		defer stop()
		drawn = bar
	}
	return index.Check(cmd.Context(), dir, index.CheckOptions{
		Rebuild: f.rebuild, State: pipeline.LedgerName, Progress: drawn,
	})
}

// mostFindings is the most findings of a file shown as text.
const mostFindings = 20

// shown returns the findings as lines, at most mostFindings of each file.
func shown(findings []index.Finding) (lines []string) {
	counts := map[string]int{}
	for _, f := range findings {
		counts[f.File]++
		switch n := counts[f.File]; {
		case n <= mostFindings:
			lines = append(lines, fmt.Sprintf("%s: %s: %s; %s", f.File, f.State, f.What, f.Remedy))
		case n == mostFindings+1:
			lines = append(lines, fmt.Sprintf("%s: more findings are not shown; --json shows all", f.File))
		}
	}
	return lines
}
