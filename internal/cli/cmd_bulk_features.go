package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/bulk"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/follow"
)

type featuresFlags struct {
	inputFlags
	methodFlags
	dir, shard, secret string
	rows               string
	jobs               int
	log                logFlags
}

func newFeaturesCommand() *cobra.Command {
	var f featuresFlags
	cmd := command("bulk-features", needInput, f.run)
	fs := cmd.Flags()
	fs.StringVarP(&f.dir, "out", "o", "", "`folder` of the shards")
	fs.StringVar(&f.shard, "shard", "1/1", "`number` of this shard, and how many there are")
	fs.StringVar(&f.rows, "rows", "", "write the rows of the shard to this `file` in the same pass, as bulk rows --out does")
	registerSecret(fs, &f.secret)
	f.log.registerTopic(fs, "log")
	f.registerMethod(fs)
	f.register(fs)
	flags.Jobs(fs, &f.jobs, "processors to use; the shard is the same for any number")
	return cmd
}

func (f *featuresFlags) run(cmd *cobra.Command, args []string) error {
	if f.log.topic != "" || len(f.log.brokers) > 0 {
		return f.appendToLog(cmd, args)
	}
	m, err := f.manifest()
	if err != nil {
		return usageError{err}
	}
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	rows, form, err := f.rowsFile()
	if err != nil {
		return err
	}
	m.Format = f.formats.String()
	for _, in := range f.inputs {
		m.Inputs = append(m.Inputs, bulk.File{Name: in.Name, Size: in.Size})
	}
	switch made, err := bulk.ReadManifest(f.dir, m.Shard, m.Of); {
	case errors.Is(err, syscall.ENOTDIR):
		return usageError{fmt.Errorf("--out %s is a file, and shards need a folder: name another", f.dir)}
	case err == nil:
		if err := f.isMade(cmd, made, m); err != nil || f.rows == "" {
			return err
		}
		f.prepare(cmd.ErrOrStderr())
		return writeOutput(cmd, rows, func(w *output.Writer) error {
			return bulk.Export(cmd.Context(), w, []*bulk.Manifest{made}, f.jobs, form)
		})
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	stderr := cmd.ErrOrStderr()
	tellTwice(f.inputs, stderr)
	f.prepare(stderr)
	bad := f.counter(cmd)
	err = writeOutput(cmd, rows, func(w *output.Writer) error {
		return bulk.Write(f.dir, m, func(add func(*bulk.Frame) error) error {
			return badrecords.EachParallel(cmd.Context(), f.documents(), f.jobs, bad, bulk.Reader(f.scheme), func(_ *corpus.Block, frame *bulk.Frame) error {
				m.Bad = uint64(bad.Bad)
				if w != nil {
					if err := frame.Export(w, m, form); err != nil {
						return err
					}
				}
				return add(frame)
			})
		})
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "firstseen: shard %d of %d: %d documents, %d rows\n", m.Shard, m.Of, m.Documents, m.Rows)
	return bad.End()
}

func (f *featuresFlags) prepare(stderr io.Writer) {
	useJobs(&f.jobs, stderr)
	limitHeap(f.source.MaxWindow, 0)
}

// manifest checks the flags and begins the manifest.
func (f *featuresFlags) manifest() (*bulk.Manifest, error) {
	if f.dir == "" {
		return nil, errors.New("bulk features: give the folder of the shards with --out DIR, or a log with --brokers and --log")
	}
	number, of, ok := strings.Cut(f.shard, "/")
	shard, err1 := strconv.Atoi(number)
	shards, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || shard < 1 || shard > shards || shards > bulk.MaxShards {
		return nil, fmt.Errorf("--shard %q: want the number of the shard and how many there are, such as 3/64, at most %d", f.shard, bulk.MaxShards)
	}
	var err error
	if f.scheme.Key, err = readSecret(f.secret); err != nil {
		return nil, err
	}
	err = cmp.Or(f.checkMethod("", false), bulk.Check(f.scheme))
	return &bulk.Manifest{Shard: shard, Of: shards, Scheme: f.scheme.Name()}, err
}

// isMade ends a command whose shard exists, with an error if it is of other inputs or settings.
func (f *featuresFlags) isMade(cmd *cobra.Command, made, m *bulk.Manifest) error {
	if made.Scheme != m.Scheme || made.Format != m.Format || !slices.Equal(made.Inputs, m.Inputs) {
		return fmt.Errorf("%s already holds shard %d of %d, made of other inputs or settings (see %s.json): remove it there, or give another --out",
			f.dir, m.Shard, m.Of, filepath.Join(f.dir, bulk.Name(m.Shard, m.Of)))
	}
	done := "nothing was done"
	if f.rows != "" {
		done = "only its rows are written"
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: shard %d of %d already exists: %d documents, and %s\n", m.Shard, m.Of, made.Documents, done)
	return nil
}

// rowsFile checks and returns the output of --rows.
func (f *featuresFlags) rowsFile() (to file, form bulk.Form, err error) {
	if err := checkEnding("--rows", f.rows, ending.Text, ending.Parquet); err != nil {
		return to, nil, err
	}
	if err := output.CheckOutputs(slices.Concat(f.inputs, f.formats.lists), "", f.rows); err != nil {
		return to, nil, usageError{err}
	}
	return rowsFile(f.rows, "lines")
}

// readSecret reads the secret of a scheme from a file; "" names none.
func readSecret(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != 16 {
		return nil, fmt.Errorf("--secret %s: want a file with 32 hexadecimal digits, as openssl rand -hex 16 writes", name)
	}
	return key, nil
}

func (f *featuresFlags) appendToLog(cmd *cobra.Command, args []string) error {
	if f.dir != "" || f.secret != "" || f.rows != "" || cmd.Flags().Changed("shard") || f.log.topic == "" || len(f.log.brokers) == 0 {
		return usageError{errors.New("bulk features: a log needs --brokers and --log, and takes no --out, --shard, --rows or --secret")}
	}
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	reach, cancel := context.WithTimeout(cmd.Context(), follow.Reaching)
	defer cancel()
	topic, err := follow.Dial(reach, f.log.brokers, f.log.topic, "")
	if err != nil {
		return f.log.unreached(reach, err)
	}
	defer topic.Close()
	scheme, err := follow.FeatureScheme(reach, topic, f.log.topic)
	if err != nil {
		return f.log.unreached(reach, err)
	}
	now, err := clock()
	if err != nil {
		return err
	}
	f.prepare(cmd.ErrOrStderr())
	bad := f.counter(cmd)
	n := int64(0)
	err = badrecords.EachParallel(cmd.Context(), f.documents(), f.jobs, bad, follow.FeatureReader(scheme, now), func(_ *corpus.Block, records *[][]byte) error {
		added, err := topic.AppendAll(cmd.Context(), *records)
		if n += added; err != nil {
			err = fmt.Errorf("after %d documents were appended to the log: %w; give the inputs again: those in the log get the same answers", n, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d documents in the log\n", n)
	return bad.End()
}
