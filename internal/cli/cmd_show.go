package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/terminal"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
	"github.com/firstseen/firstseen/internal/engine/report/show"
)

type showing struct {
	inputFlags
	printed
	page string
	of   []string // inputs of the run
}

func newShowCommand() *cobra.Command {
	var s showing
	cmd := command("report-show", needReport, func(cmd *cobra.Command, args []string) error {
		if s.asJSON && s.page != "" {
			return usageError{errors.New("show: --html and --json exclude each other: give one")}
		}
		if err := checkEnding("--html", s.page, ending.HTML); err != nil {
			return err
		}
		return s.show(cmd, args)
	})
	fs := cmd.Flags()
	fs.StringVar(&s.page, "html", "", "write one self-contained page of HTML here; - is standard output")
	s.printed.register(fs)
	fs.StringArrayVar(&s.of, "input", nil, "read this input of the run too, for totals and whole texts; repeat it for each, in the order of the run")
	s.formats.register(fs, "input-format", false) // --html is the page
	s.registerLimits(fs, "")
	return cmd
}

func (s *showing) show(cmd *cobra.Command, args []string) error {
	report, err := lines.Open(args, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if len(s.of) > 0 {
		if err := s.findInputs(cmd, s.of); err != nil {
			return err
		}
		if err := derive.CheckNames(s.inputs); err != nil {
			return err
		}
	}
	if s.page != "" {
		if err := output.CheckOutputs(slices.Concat(report.Inputs, s.formats.lists, s.inputs), "", s.page); err != nil {
			return usageError{err}
		}
	}
	if len(s.of) > 0 && report.Once() {
		return usageError{errors.New("show: with --input the report is read twice, and it is a pipe: give a file")}
	}
	c := show.NewCollector()
	for line, err := range report.All(cmd.Context()) {
		if err != nil {
			return err
		}
		c.Add(line)
	}
	digest, out := c.Digest(), cmd.OutOrStdout()
	if len(s.of) > 0 {
		if err := s.readTexts(cmd, report, digest); err != nil {
			return err
		}
	}
	title := "Copies in " + strings.Join(args, ", ")
	switch {
	case s.page != "":
		return writeOutput(cmd, file{name: s.page}, func(w *output.Writer) error {
			if report.Once() {
				return digest.WriteHTML(w, title, nil)
			}
			return digest.WriteHTML(w, title, report.All(cmd.Context()))
		})
	case s.asJSON:
		return encodeIndented(out, digest)
	}
	style := show.Style{Columns: 100}
	if terminal.Of(out) != nil {
		style.Columns, style.Marks = terminal.Style(out)
	}
	return digest.WriteText(out, style)
}

// readTexts reads the inputs of the run along with its report.
func (s *showing) readTexts(cmd *cobra.Command, report *lines.Reports, digest *show.Digest) error {
	texts := digest.ReadTexts()
	defer texts.Close()
	for r, err := range derive.Records(cmd.Context(), s.documents(), report) {
		switch {
		case err != nil:
			return err
		case r.Bad == nil && !r.Other && !r.Empty:
			texts.Add(r.ID, r.Text, r.Line)
		}
	}
	return nil
}
