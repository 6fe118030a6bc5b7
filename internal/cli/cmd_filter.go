package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

func newFilterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "filter",
		Short: "Hand filters to other programs and indexes, and take theirs",
		Long:  filterLong,
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExportCommand(), newImportCommand())
	return cmd
}

func newExportCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "export --index DIR FILE",
		Short:   "Write the filter of an index as bits-and-blooms does",
		Long:    exportLong,
		Example: "  firstseen filter export --index seen/ seen.bloom",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case dir == "":
				return usageError{errors.New("filter export: give the index with --index DIR")}
			case len(args) != 1:
				return usageError{errors.New(`filter export: give one FILE, or "-" for standard output`)}
			}
			if err := checkEnding("filter export", args[0], holdsFilter); err != nil {
				return usageError{err}
			}
			return exportFilter(cmd, dir, args[0])
		},
	}
	cmd.Flags().StringVar(&dir, "index", "", "directory of the index")
	return cmd
}

func exportFilter(cmd *cobra.Command, dir, name string) error {
	if err := corpus.CheckOutputs(nil, dir, name); err != nil {
		return err
	}
	scheme, err := "", error(nil)
	if name == corpus.Stdin {
		scheme, err = index.Export(dir, cmd.OutOrStdout())
	} else {
		scheme, err = exportFile(cmd, dir, name)
	}
	if err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "firstseen: the keys are made by the scheme", scheme)
	}
	key, keyErr := index.ReadKey(dir)
	if err == nil && key != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: index %s has a key: only an index with the same key file can use this filter, see filter import --same-key\n", dir)
	}
	return errors.Join(err, keyErr)
}

// exportFile writes the filter to a name of the user's, as every other output is written. It writes
// through links, pipes and devices, and replaces nothing but a whole file.
func exportFile(cmd *cobra.Command, dir, name string) (scheme string, err error) {
	w, err := opened(cmd.Context(), func() (*corpus.Writer, error) { return corpus.CreatePlain(name) })
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Discard()) }()
	tellAside(cmd.ErrOrStderr(), w)
	if scheme, err = index.Export(dir, recordWriter{w}); err != nil {
		return "", err
	}
	return scheme, w.Close()
}

func newImportCommand() *cobra.Command {
	var dir string
	var scheme feature.Scheme
	var sameKey bool
	cmd := &cobra.Command{
		Use:     "import --index DIR FILE...",
		Short:   "Add exported filters to an index without a side table, or make one of them",
		Long:    importLong,
		Example: "  firstseen filter import --index all/ node1.bloom node2.bloom",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case dir == "":
				return usageError{errors.New("filter import: give the index with --index DIR")}
			case len(args) == 0:
				return usageError{errors.New("filter import: no FILE; name filters that filter export has written")}
			}
			if err := scheme.Validate(); err != nil {
				return usageError{err}
			}
			policy := index.KeyRefused
			if sameKey {
				policy = index.KeyRequired
			}
			f, err := index.Import(dir, scheme, policy, args...)
			switch {
			case errors.Is(err, index.ErrKeyed):
				err = usageError{fmt.Errorf("index %s has a key, and knows only what was made with this key: add --same-key if the filters were exported "+
					"from indexes with this very key file; else make all with dedup --no-key", dir)}
			case errors.Is(err, index.ErrUnkeyed):
				err = usageError{fmt.Errorf("--same-key: index %s has no key; copy the key file of the index that the filters are from to %s, or leave the flag out",
					dir, filepath.Join(dir, index.KeyFile))}
			}
			if err == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: filter of %s, about %d of %d keys\n", sizeText(f.Bytes), f.Items, f.Capacity)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "index", "", "directory of the index")
	cmd.Flags().BoolVar(&sameKey, "same-key", false, "the filters were made with the key that the index has")
	cmd.Flags().IntVar(&scheme.Segments, "segments", 0, "of a new index: as for dedup")
	cmd.Flags().IntVar(&scheme.MinWidth, "min-width", 0, "of a new index: as for dedup")
	return cmd
}
