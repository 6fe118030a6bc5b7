package cli

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/terminal"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
	"github.com/firstseen/firstseen/internal/engine/report/show"
)

type showing struct {
	inputFlags
	printed
	page      string
	of        []string // inputs of the run
	by, field string   // groups of the map of sources
}

func newShowCommand() *cobra.Command {
	var s showing
	cmd := command("report-show", needReport, func(cmd *cobra.Command, args []string) error {
		if s.asJSON && s.page != "" {
			return usageError{errors.New("show: --html and --json exclude each other: give one")}
		}
		if s.by != "" && s.page == "" && !s.asJSON {
			return usageError{errors.New("show: --by is for the map of sources, which text lacks: give --html or --json too")}
		}
		if (s.by == show.ByInput || s.by == show.ByField) && len(s.of) == 0 {
			return usageError{errors.New("show: a report does not say in which input a source is, nor its fields: with --by input and --by field=NAME, give the inputs of the run with --input")}
		}
		if err := checkEnding("--html", s.page, ending.HTML); err != nil {
			return err
		}
		return s.show(cmd, args)
	})
	fs := cmd.Flags()
	fs.StringVar(&s.page, "html", "", "write one self-contained page of HTML here; - is standard output")
	flags.By(fs, s.group, "by", "the groups of the map of sources: host (of ids that are URLs), folder (of the id), input, or field=NAME, the last two with --input (default host or else folder)")
	s.printed.register(fs)
	fs.StringArrayVar(&s.of, "input", nil, "read this input of the run too, for totals and whole texts; repeat it for each, in the order of the run")
	s.formats.register(fs, "input-format", false) // --html is the page
	s.registerLimits(fs, "")
	return cmd
}

// group reads the groups of the map.
func (s *showing) group(text string) error {
	name, is := "", false
	if name, is = strings.CutPrefix(text, "field="); is && name != "" {
		s.by, s.field = show.ByField, name
		return nil
	}
	s.by = text
	return flags.Word(&s.by, []string{show.ByFolder, show.ByHost, show.ByInput}, show.ByFolder, show.ByHost, show.ByInput)(text)
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
	c := show.NewCollector(s.by, s.page != "")
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
	switch {
	case s.page != "":
		return writeOutput(cmd, file{name: s.page}, func(w *output.Writer) error {
			return digest.WriteHTML(w, args)
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
	next, stop := iter.Pull2(corpus.Records(cmd.Context(), s.reread()))
	defer stop()
	for r, err := range derive.Records(cmd.Context(), s.documents(), report) {
		if err != nil {
			return err
		}
		group := r.Block.File
		if s.by == show.ByField {
			other, err, _ := next()
			if err != nil {
				return err
			}
			if group = ""; other.Document != nil && other.Bad == nil && !bytes.Equal(other.ID, other.Block.Name(other.At)) {
				group = string(other.ID)
			}
		}
		if r.Bad == nil && !r.Other && !r.Empty {
			texts.Add(r.ID, r.Text, r.Line, group)
		}
	}
	return nil
}

// reread returns the inputs with the field of the map as their id, which can be a number.
func (s *showing) reread() *corpus.Source {
	f := s.formats
	f.jsonl.Fields.ID = s.field
	f.complete(s.source) //nolint:errcheck // it was complete before
	return f.source(s.inputs, s.source)
}
