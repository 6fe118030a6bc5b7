package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/terminal"
	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/compare/explain"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

type explaining struct {
	inputFlags
	methodFlags
	asJSON bool
	report string
	line   int
	said   *lines.Line // line of the report
	weigh  bool
	width  int
	whole  bool
	color  string
}

func newCompareCommand() *cobra.Command {
	var f explaining
	cmd := command("compare", nil, f.run)
	fs := cmd.Flags()
	fs.StringVar(&f.report, "report", "", "explain a line of this report, whose documents are in the INPUTs (default the file that the line names)")
	fs.IntVar(&f.line, "line", 1, "which line of the report, from 1")
	fs.BoolVar(&f.weigh, "weigh", false, "with --report: weigh words for the cosine by the number of documents with them; reads all INPUTs")
	f.registerMethod(fs)
	flags.Share(fs, &f.rules.Threshold, "threshold", "as for dedup")
	fs.BoolVar(&f.asJSON, "json", false, "one JSON object, without the texts")
	fs.IntVar(&f.width, "width", 0, "columns for both texts together (default the width of the terminal, or 120)")
	fs.BoolVar(&f.whole, "whole", false, "do not fold equal parts")
	flags.OneWord(fs, &f.color, "color", "mark by colours instead of brackets: auto (on a terminal), always or never", "auto", "always", "never")
	f.register(fs)
	return cmd
}

func (f *explaining) run(cmd *cobra.Command, args []string) error {
	style, err := f.style(cmd.OutOrStdout())
	if err = cmp.Or(f.checkMethod("", false), err); err != nil {
		return usageError{err}
	}
	cfg := f.source
	cfg.Stdin = cmd.InOrStdin()
	pair := explain.Rules{Scheme: f.scheme, Rules: f.rules}
	var docs [2]explain.Document // the earlier one first
	switch {
	case f.line < 1:
		err = usageError{fmt.Errorf("--line %d: lines count from 1", f.line)}
	case f.report != "":
		docs, err = f.reported(cmd, args, &pair)
	case f.weigh, cmd.Flags().Changed("line"):
		err = usageError{errors.New("compare: --line and --weigh need a report and its inputs: use them with --report FILE")}
	case len(args) != 2:
		err = usageError{errors.New("compare: give two files, the earlier text first, or --report FILE with the INPUTs of its run")}
	case args[0] == input.Stdin && args[1] == input.Stdin:
		err = usageError{errors.New("compare: standard input (-) is named twice")}
	default:
		if cfg.Encoding, err = corpus.EncodingNamed(string(f.formats.encoding)); err != nil {
			return usageError{err}
		}
		tellWhole(cmd.ErrOrStderr(), args)
		docs, err = twoFiles(args, cfg)
	}
	if err != nil {
		return err
	}
	e, err := explain.Pair(docs[0], docs[1], pair)
	if err != nil {
		return err
	}
	if e.Reported = f.said; f.said != nil {
		if err := e.Replay(pair, corpus.Records(cmd.Context(), f.documents())); err != nil {
			return err
		}
	}
	if f.asJSON {
		return visible.NewEncoder(cmd.OutOrStdout()).Encode(e)
	}
	return e.Write(cmd.OutOrStdout(), style)
}

func (f *explaining) style(out io.Writer) (style textdiff.Style, err error) {
	columns, colours := terminal.Style(out)
	columns = min(max(cmp.Or(columns, 120), 20), 1000) // a terminal can have any number
	style = textdiff.Style{Width: cmp.Or(f.width, columns), Whole: f.whole}
	if style.Width < 20 || style.Width > 1000 {
		return style, fmt.Errorf("--width %d: want 20 to 1000", f.width)
	}
	style.Color = f.color == "always" || f.color == "auto" && colours
	return style, nil
}

// tellWhole reports files whose names promise many documents: each file is read as one text.
func tellWhole(stderr io.Writer, names []string) {
	for _, name := range names {
		if kind := ending.Promised(name); kind == ending.JSON || kind == ending.CSV || kind == ending.Parquet || kind == ending.WARC {
			fmt.Fprintf(stderr, "firstseen: %s is compared as one text; to compare documents inside it, give a line of their report: --report FILE --line N\n", name)
		}
	}
}

func twoFiles(args []string, cfg corpus.SourceConfig) (docs [2]explain.Document, err error) {
	inputs := input.NewFinder(nil, cfg.Bounds)
	for i, name := range args {
		in, err := inputs.Find(name)
		var text []byte
		if err == nil {
			text, err = corpus.ReadWhole(in, cfg)
		}
		if err != nil {
			return docs, fmt.Errorf("reading the text: %w", err)
		}
		docs[i] = explain.Document{ID: name, Text: string(text)}
	}
	return docs, nil
}

// reported finds the two documents that a line of a report names.
func (f *explaining) reported(cmd *cobra.Command, args []string, rules *explain.Rules) (docs [2]explain.Document, err error) {
	line, err := explain.ReadLine(cmd.Context(), f.report, f.line)
	if err != nil {
		return docs, err
	}
	f.said = line
	if args = slices.Clone(args); len(args) == 0 {
		if info, err := os.Stat(*line.Of); err == nil && info.Mode().IsRegular() && *line.Of != line.File {
			args = append(args, *line.Of) // each file is a document with its name as the id
		}
		args = append(args, line.File)
	}
	if err := f.findInputs(cmd, args); err != nil {
		return docs, err
	}
	docs, others, err := explain.Find(line, corpus.Records(cmd.Context(), f.documents()))
	if err != nil {
		return docs, err
	}
	if others {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: several documents have the id %q: the first is shown\n", docs[0].ID)
	}
	if f.weigh {
		rules.Frequencies = similarity.CountUnits(similarity.New(docs[0].Text), similarity.New(docs[1].Text))
		for r, err := range corpus.Records(cmd.Context(), f.documents()) {
			switch {
			case err != nil:
				return docs, err
			case r.Bad == nil && !r.Empty:
				rules.Frequencies.Add(string(r.Text))
			}
		}
	}
	return docs, nil
}
