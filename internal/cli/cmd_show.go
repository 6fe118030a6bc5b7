package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/report/lines"
	"github.com/firstseen/firstseen/report/show"
)

const showLong = `Show what reports of firstseen dedup say: how many documents are what, how their
scores are spread, which documents and sites are copied most and by whom, which inputs
lose most, and examples with what they share, as the report quotes it. The examples
removed on the least evidence are those to look at first.

The result is a text for a terminal or a file. --html writes it as one page for a
browser, which needs nothing else, and --json as JSON. Sites are those of ids that are
URLs. Reports are read once; memory does not grow with them, and counts that are no
longer exact beyond 65,536 different values are marked with ≤.`

const showExample = `  firstseen report show dups.jsonl
  firstseen report show --html dups.html dups-*.jsonl.gz`

func newShowCommand() *cobra.Command {
	var page string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show REPORT...",
		Short:   "Show a report as text or as a page",
		Long:    showLong,
		Example: showExample,
		Args:    needReport,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && page != "" {
				return usageError{errors.New("show: --html and --json are two forms: give one")}
			}
			if err := checkEnding("--html", page, holdsHTML); err != nil {
				return usageError{err}
			}
			return showReport(cmd, args, page, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&page, "html", "", "write one self-contained page of HTML here; - is standard output")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showReport(cmd *cobra.Command, args []string, page string, asJSON bool) error {
	report, err := lines.Open(args, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if page != "" {
		inputs, _, err := corpus.Expand(args, []string{".jsonl"})
		if err != nil {
			return err
		}
		if err := corpus.CheckOutputs(inputs, "", page); err != nil {
			return usageError{err}
		}
	}
	var c show.Collector
	if err := report.Each(cmd.Context(), c.Add); err != nil {
		return err
	}
	digest, out := c.Digest(), cmd.OutOrStdout()
	switch {
	case page != "":
		return writeHTMLPage(page, func(w io.Writer) error { return digest.WriteHTML(w, "What "+strings.Join(args, ", ")+" says") })
	case asJSON:
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(digest)
	}
	return digest.WriteText(out, styleOf(out))
}

// styleOf is how text is written to an output: as wide as the terminal, if it is one.
func styleOf(out io.Writer) (s show.Style) {
	if w, ok := out.(*firstError); ok {
		out = w.Writer
	}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return show.Style{Columns: 100}
	}
	s.Columns, _, _ = term.GetSize(int(f.Fd())) // 0 if it is unknown
	s.Marks = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// writeHTMLPage writes a page to a file, which gets its name at the end.
func writeHTMLPage(name string, write func(io.Writer) error) (err error) {
	w, err := corpus.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Discard()) }()
	if err := write(recordWriter{w}); err != nil {
		return err
	}
	return w.Close()
}

// recordWriter writes bytes to an output, a record each time.
type recordWriter struct{ to *corpus.Writer }

func (w recordWriter) Write(p []byte) (int, error) { return len(p), w.to.WriteRecord(p) }
