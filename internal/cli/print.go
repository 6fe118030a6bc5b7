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

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/report"
	"github.com/firstseen/firstseen/internal/visible"
)

// printed is how a command prints its result: as text or as JSON.
type printed struct{ asJSON bool }

func (p *printed) register(fs *pflag.FlagSet) { fs.BoolVar(&p.asJSON, "json", false, "print JSON") }

// print prints a value as a line of JSON, or else data as a template of help.
func (p *printed) print(cmd *cobra.Command, value any, text string, data any) error {
	if p.asJSON {
		return visible.NewEncoder(cmd.OutOrStdout()).Encode(value)
	}
	return templates.ExecuteTemplate(cmd.OutOrStdout(), text+".tmpl", data)
}

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"size":    func(bytes any) string { return sizeText(uint64(float(bytes))) },
	"count":   func(n any) string { return countText(float(n)) },
	"percent": func(part, whole any) string { return fmt.Sprintf("%.1f%%", 100*float(part)/float(whole)) },
	"times":   func(a, b float64) float64 { return a * b },
	"oneIn":   report.OneIn,
	"span": func(seconds float64) time.Duration {
		return time.Duration(seconds * float64(time.Second)).Round(time.Second)
	},
}).ParseFS(helpFiles, "help/*.tmpl"))

func float(n any) float64 { return reflect.ValueOf(n).Convert(reflect.TypeFor[float64]()).Float() }

func encodeAll[T any](out *json.Encoder, values []T) error {
	for _, v := range values {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

func encodeIndented(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// flushed hands on the rest of an output, and adds its error to that of the work before.
func flushed(out *bufio.Writer, err error) error {
	if flushErr := out.Flush(); !errors.Is(err, flushErr) { // else it was reported already
		err = errors.Join(err, flushErr)
	}
	return err
}

type file struct {
	name   string
	plain  bool             // not compressed, whatever its name
	around output.Enclosure // of its records; nil for none
	head   []byte           // in front of its records, without an enclosure
}

func (f file) create() (*output.Writer, error) {
	if f.plain {
		return output.CreatePlain(f.name)
	}
	w, err := output.Create(f.name)
	if err != nil {
		return nil, err
	}
	if err := pipeline.BeginOutput(w, f.around, f.head); err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	return w, nil
}

// writeOutput writes an output, which gets its name at the end; without a name, write gets no output.
// It writes through links, pipes and devices, and replaces nothing but a whole file.
func writeOutput(cmd *cobra.Command, f file, write func(io.Writer) error) (err error) {
	if f.name == "" {
		return write(recordWriter{})
	}
	w, err := opened(cmd.Context(), f.create)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Discard()) }()
	tellAside(cmd.ErrOrStderr(), w)
	if err := write(recordWriter{w}); err != nil {
		return err
	}
	return w.Close()
}

// recordWriter writes bytes to an output, a record each time.
type recordWriter struct{ to *output.Writer }

func (w recordWriter) Write(p []byte) (int, error) { return len(p), w.to.WriteRecord(p) }
