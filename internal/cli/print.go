package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/table"
)

// printed selects the form of a command's result: text or JSON.
type printed struct{ asJSON bool }

func (p *printed) register(fs *pflag.FlagSet) { fs.BoolVar(&p.asJSON, "json", false, "print JSON") }

// print prints value as a line of JSON, or else data by a template of help.
func (p *printed) print(cmd *cobra.Command, value any, text string, data any) error {
	if p.asJSON {
		return visible.NewEncoder(cmd.OutOrStdout()).Encode(value)
	}
	page := template.Must(template.New(text+".tmpl").Funcs(template.FuncMap{
		"size":    func(bytes any) string { return amount.Size(uint64(float(bytes))) },
		"count":   func(n any) string { return amount.Count(float(n)) },
		"percent": func(part, whole any) string { return fmt.Sprintf("%.1f%%", 100*float(part)/float(whole)) },
		"times":   func(a, b float64) float64 { return a * b },
		"oneIn":   report.OneIn,
		"span": func(seconds float64) time.Duration {
			return time.Duration(seconds * float64(time.Second)).Round(time.Second)
		},
	}).ParseFS(helpFiles, "help/"+text+".tmpl"))
	return page.Execute(cmd.OutOrStdout(), data)
}

func float(n any) float64 { return reflect.ValueOf(n).Convert(reflect.TypeFor[float64]()).Float() }

func encodeAll[T any](out *json.Encoder, values []T) error {
	for _, v := range values {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// newEncoder returns an encoder of JSON lines that leaves <, > and & readable, as ids often have them.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func encodeIndented(w io.Writer, value any) error {
	enc := newEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// flushed flushes an output, and joins its error to that of the work before.
func flushed(out *bufio.Writer, err error) error {
	if flushErr := out.Flush(); !errors.Is(err, flushErr) { // else it is reported already
		err = errors.Join(err, flushErr)
	}
	return err
}

type file struct {
	name   string
	around output.Enclosure // enclosure of its records; nil for none
	head   []byte           // precedes the records if there is no enclosure
}

// writeOutput writes an output, which gets its name at the end. Without a name, write gets no
// output. It writes through links, pipes and devices, and replaces nothing but a whole file.
func writeOutput(cmd *cobra.Command, f file, write func(*output.Writer) error) (err error) {
	if f.name == "" {
		return write(nil)
	}
	w, err := opened(cmd.Context(), func() (*output.Writer, error) { return output.Create(f.name) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Discard()) }()
	tellAside(cmd.ErrOrStderr(), w)
	if err = pipeline.BeginOutput(w, f.around, f.head); err == nil {
		err = write(w)
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// writeSummary writes a summary to the file of --summary, unless "".
func writeSummary(cmd *cobra.Command, name string, s any) error {
	if name == input.Stdin {
		return encodeIndented(cmd.OutOrStdout(), s)
	}
	return writeOutput(cmd, file{name: name}, func(w *output.Writer) error {
		if w == nil {
			return nil
		}
		return encodeIndented(w, s)
	})
}

// writeTable writes a table of these columns. The file gets its name if write does not fail.
func writeTable(cmd *cobra.Command, name string, columns []string, write func(*table.Table) error) error {
	return writeOutput(cmd, file{name: name}, func(w *output.Writer) error {
		t, err := table.New(w, name, columns...)
		if err != nil {
			return err
		}
		return write(t)
	})
}
