package cli

import (
	"bytes"
	"cmp"
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
		conflicts := meaning(
			conflict{s.asJSON && s.page != "", "show: --html and --json exclude each other: give one"},
			conflict{s.by != "" && s.page == "" && !s.asJSON, "show: --by is for the map of sources, which text lacks: give --html or --json too"},
			conflict{(s.by == show.ByInput || s.by == show.ByField) && len(s.of) == 0, "show: a report does not say in which input a source is, nor its fields: with --by input and --by field=NAME, give the inputs of the run with --input"},
		)
		if err := cmp.Or(conflicts, checkEnding("--html", s.page, ending.HTML)); err != nil {
			return err
		}
		return s.show(cmd, args)
	})
	fs := cmd.Flags()
	fs.StringVar(&s.page, "html", "", "write one self-contained page of HTML here; - is standard output")
	flags.By(fs, s.group, "by", "the groups of the map of sources: host (of ids that are URLs), folder (of the id), input, or field=NAME, the last two with --input (default host or else folder)")
	s.printed.register(fs)
	fs.StringArrayVar(&s.of, "input", nil, "read this input of the run too, for totals and whole texts; repeat it for each, in the order of the run")
	s.formats.register(fs, false)
	s.registerLimits(fs, "")
	return cmd
}

// group reads the groups of the map.
func (s *showing) group(text string) error {
	if name, is := strings.CutPrefix(text, "field="); is && name != "" {
		s.by, s.field = show.ByField, name
		return nil
	}
	if !slices.Contains([]string{show.ByFolder, show.ByHost, show.ByInput}, text) {
		return errors.New("want folder, host, input or field=NAME")
	}
	s.by = text
	return nil
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
	if err := output.CheckOutputs(slices.Concat(report.Inputs, s.formats.lists, s.inputs), "", s.page); err != nil {
		return usageError{err}
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
	group, stop, err := s.groups(cmd)
	if err != nil {
		return err
	}
	defer stop()
	for r, err := range derive.Records(cmd.Context(), s.documents(), report) {
		if err != nil {
			return err
		}
		of, err := group(r.Record)
		if err != nil {
			return err
		}
		if r.Bad == nil && !r.Other && !r.Empty {
			texts.Add(r.ID, r.Text, r.Line, of)
		}
	}
	return nil
}

// groups returns a function for the group of each record in turn: the name of its input, or the
// value of the field of --by, which is read as an id of the same inputs.
func (s *showing) groups(cmd *cobra.Command) (group func(corpus.Record) (string, error), stop func(), err error) {
	if s.by != show.ByField {
		return func(r corpus.Record) (string, error) { return r.Block.File, nil }, func() {}, nil
	}
	f := s.formats
	f.jsonl.Fields.ID = s.field
	if err := f.complete(s.source); err != nil {
		return nil, nil, usageError{err}
	}
	next, stop := iter.Pull2(corpus.Records(cmd.Context(), f.source(s.inputs, s.source)))
	return func(corpus.Record) (string, error) {
		r, err, more := next()
		if err != nil || !more || r.Bad != nil || bytes.Equal(r.ID, r.Block.Name(r.At)) {
			return "", err
		}
		return string(r.ID), nil
	}, stop, nil
}
