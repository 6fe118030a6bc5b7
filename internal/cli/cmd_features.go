package cli

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/bulk"
)

// featuresFlags are the choices of firstseen features.
type featuresFlags struct {
	options
	dir, shard, secret string
	log                logFlags
}

func newFeaturesCommand() *cobra.Command {
	var f featuresFlags
	cmd := command("features", needInput, f.run)
	fs := cmd.Flags()
	fs.StringVarP(&f.dir, "out", "o", "", "`folder` of the shards")
	fs.StringVar(&f.shard, "shard", "1/1", "`number` of this shard, and how many there are")
	registerSecret(fs, &f.secret)
	f.log.registerTopic(fs, "log")
	f.method.register(fs, &f.Scheme, &f.Rules.Score)
	hide(fs, "score")
	f.registerInputs(fs)
	registerJobs(fs, &f.Workers, "processors to use; the shard is the same for any number")
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
	m.Format = f.formats.String()
	for _, in := range f.Inputs {
		m.Inputs = append(m.Inputs, bulk.File{Name: in.Name, Size: in.Size})
	}
	switch made, err := bulk.ReadManifest(f.dir, m.Shard, m.Of); {
	case err == nil:
		return f.isMade(cmd, made, m)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	stderr := cmd.ErrOrStderr()
	f.Workers = checkJobs(f.Workers, stderr)
	runtime.GOMAXPROCS(f.Workers)
	limitHeap(f.source.MaxWindow, 0)
	var bad bads
	noun := ""
	err = bulk.Write(f.dir, m, func(add func(*bulk.Frame) error) (err error) {
		noun, err = f.frames(cmd, m, &bad, add)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "firstseen: shard %d of %d: %d documents, %d rows\n", m.Shard, m.Of, m.Documents, m.Rows)
	return bad.end(int64(m.Bad+m.Documents), noun)
}

// manifest checks the flags, and begins the manifest.
func (f *featuresFlags) manifest() (*bulk.Manifest, error) {
	if f.dir == "" {
		return nil, errors.New("features: give the folder of the shards with --out DIR, or a log with --brokers and --log")
	}
	number, of, ok := strings.Cut(f.shard, "/")
	shard, err1 := strconv.Atoi(number)
	shards, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || shard < 1 || shard > shards || shards > bulk.MaxShards {
		return nil, fmt.Errorf("--shard %q: want the number of the shard and how many there are, such as 3/64, at most %d", f.shard, bulk.MaxShards)
	}
	var err error
	if f.Scheme.Key, err = readSecret(f.secret); err != nil {
		return nil, err
	}
	if err := f.method.complete(&f.Scheme, "", 0); err != nil {
		return nil, err
	}
	if err := bulk.Check(f.Scheme); err != nil {
		return nil, err
	}
	return &bulk.Manifest{Shard: shard, Of: shards, Scheme: f.Scheme.Name()}, f.Scheme.Validate()
}

// isMade ends the command: the shard is there already, of these inputs or of others.
func (f *featuresFlags) isMade(cmd *cobra.Command, made, m *bulk.Manifest) error {
	if made.Scheme != m.Scheme || made.Format != m.Format || !slices.Equal(made.Inputs, m.Inputs) {
		return fmt.Errorf("%s holds shard %d of %d already, of other inputs or settings (see %s.json): remove it there, or give another --out",
			f.dir, m.Shard, m.Of, filepath.Join(f.dir, bulk.Name(m.Shard, m.Of)))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: shard %d of %d is made already: %d documents, and nothing was done\n", m.Shard, m.Of, made.Documents)
	return nil
}

// frames makes the frames of a shard, and hands them to add.
func (f *featuresFlags) frames(cmd *cobra.Command, m *bulk.Manifest, bad *bads, add func(*bulk.Frame) error) (noun string, err error) {
	newWorker := func() (func(*corpus.Block, iter.Seq[*corpus.Document], *bulk.Frame) error, error) {
		extractor, err := feature.NewExtractor(f.Scheme)
		var d bulk.Doc
		return func(b *corpus.Block, docs iter.Seq[*corpus.Document], frame *bulk.Frame) error {
			frame.Reset()
			for doc := range docs {
				extractor.ExtractFor(&d.Sketch, doc.Text, doc.Exact)
				d.Input, d.At, d.ID, d.Time = b.Input, doc.At, doc.ID, doc.Time
				frame.Add(&d, f.Scheme.Key != nil)
			}
			return nil
		}, err
	}
	return inParallel(cmd, &f.options, bad, newWorker, func(_ *corpus.Block, frame *bulk.Frame) error {
		if m.Bad = uint64(bad.n); f.MaxBad >= 0 && bad.n > int64(f.MaxBad) {
			return errTooManyBad
		}
		return add(frame)
	})
}

// readSecret reads the secret of a scheme from a file; "" is none.
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
