package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/report/clusters"
	"github.com/firstseen/firstseen/internal/report/lines"
	"github.com/firstseen/firstseen/internal/report/rows"
)

func newClustersCommand() *cobra.Command {
	var out, pairs string
	var links clusters.Links
	least := 0
	cmd := command("report-clusters", needReport, func(cmd *cobra.Command, args []string) error {
		if out == "" && pairs == "" {
			out = input.Stdin
		}
		report, err := openReports(cmd, args, map[string]string{"--out": out, "--pairs": pairs})
		if err != nil {
			return err
		}
		if out != "" && report.Once() {
			return usageError{errors.New("clusters: a report is read twice, and one is a pipe: give files")}
		}
		if out != "" {
			if err := writeClusters(cmd, report, out, links, least); err != nil {
				return err
			}
		}
		if pairs != "" {
			return writePairs(cmd, report, pairs)
		}
		return nil
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", "", "write the clusters here (default standard output): .csv, .tsv or lines of JSON")
	fs.StringVar(&pairs, "pairs", "", "write each document with the one that it repeats here")
	hide(fs, "pairs")
	registerLinks(fs, &links)
	fs.IntVar(&least, "min-size", 2, "leave out clusters of fewer documents")
	return cmd
}

func registerLinks(fs *pflag.FlagSet, links *clusters.Links) {
	oneOf(fs, links, "links", "what joins documents: all (copies and related documents) or duplicates",
		word("all", clusters.All), word("duplicates", clusters.Duplicates))
}

// writeClusters writes the clusters of a report, of at least so many documents, to a file.
func writeClusters(cmd *cobra.Command, report *lines.Reports, name string, links clusters.Links, least int) error {
	return writeTable(cmd, name, []string{"id", "cluster", "size", "verdict"}, func(t *rows.Table) error {
		each := func(f func(*lines.Line) error) error { return report.Each(cmd.Context(), f) }
		return clusters.Write(each, links, func(r *clusters.Row) error {
			if r.Size < least {
				return nil
			}
			return t.Write(r.ID, r.Cluster, r.Size, r.Verdict)
		})
	})
}

// writePairs writes the documents of a report that have one source, with that.
func writePairs(cmd *cobra.Command, report *lines.Reports, name string) error {
	return writeTable(cmd, name, []string{"id", "of", "verdict", "score", "contained", "exact"}, func(t *rows.Table) error {
		return report.Each(cmd.Context(), func(l *lines.Line) error {
			if l.Of == nil {
				return nil
			}
			return t.Write(l.ID, *l.Of, l.Verdict, float64(l.Score), float64(l.Contained), l.Exact)
		})
	})
}

// writeTable writes a table of these columns. The file gets its name when write has returned without an
// error.
func writeTable(cmd *cobra.Command, name string, columns []string, write func(*rows.Table) error) error {
	return writeOutput(cmd, file{name: name}, func(w io.Writer) error {
		t, err := rows.New(w, name, columns...)
		if err != nil {
			return err
		}
		return write(t)
	})
}
