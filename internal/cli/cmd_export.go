package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
)

func newExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export DIR FILE",
		Short:   "Write the filter of an index for other programs",
		Long:    exportLong,
		Example: "  firstseen index export seen/ seen.bloom",
	}
	return onIndex(cmd, nil, func(cmd *cobra.Command, dir string, args []string) error {
		if len(args) != 1 {
			return usageError{errors.New(`index export: give one FILE, or "-" for standard output`)}
		}
		if err := checkEnding("index export", args[0], holdsFilter); err != nil {
			return usageError{err}
		}
		return exportFilter(cmd, dir, args[0])
	})
}

func exportFilter(cmd *cobra.Command, dir, name string) error {
	if err := output.CheckOutputs(nil, dir, name); err != nil {
		return err
	}
	scheme, err := "", error(nil)
	if name == input.Stdin {
		scheme, err = index.Export(dir, cmd.OutOrStdout())
	} else {
		scheme, err = exportFile(cmd, dir, name)
	}
	if err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "firstseen: the keys are made by the scheme", scheme)
	}
	key, keyErr := index.ReadKey(dir)
	if err == nil && key != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: index %s has a key: its keys compare with those of no other index\n", dir)
	}
	return errors.Join(err, keyErr)
}

// exportFile writes the filter to a name of the user's.
func exportFile(cmd *cobra.Command, dir, name string) (scheme string, err error) {
	err = writeOutput(cmd, func() (*output.Writer, error) { return output.CreatePlain(name) }, func(w io.Writer) error {
		scheme, err = index.Export(dir, w)
		return err
	})
	return scheme, err
}

// writeOutput writes an output, which gets its name at the end. It writes through links, pipes and
// devices, and replaces nothing but a whole file.
func writeOutput(cmd *cobra.Command, create func() (*output.Writer, error), write func(io.Writer) error) (err error) {
	w, err := opened(cmd.Context(), create)
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
