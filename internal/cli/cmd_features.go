package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/bulk"
	"github.com/firstseen/firstseen/internal/follow"
)

type featuresFlags struct {
	inputFlags
	methodFlags
	dir, shard, secret string
	jobs               int
	log                logFlags
}

func newFeaturesCommand() *cobra.Command {
	var f featuresFlags
	cmd := command("bulk-features", needInput, f.run)
	fs := cmd.Flags()
	fs.StringVarP(&f.dir, "out", "o", "", "`folder` of the shards")
	fs.StringVar(&f.shard, "shard", "1/1", "`number` of this shard, and how many there are")
	registerSecret(fs, &f.secret)
	f.log.registerTopic(fs, "log")
	f.registerMethod(fs)
	f.register(fs)
	registerJobs(fs, &f.jobs, "processors to use; the shard is the same for any number")
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
	for _, in := range f.inputs {
		m.Inputs = append(m.Inputs, bulk.File{Name: in.Name, Size: in.Size})
	}
	switch made, err := bulk.ReadManifest(f.dir, m.Shard, m.Of); {
	case errors.Is(err, syscall.ENOTDIR):
		return usageError{fmt.Errorf("--out %s is a file, and shards need a folder: name another", f.dir)}
	case err == nil:
		return f.isMade(cmd, made, m)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	stderr := cmd.ErrOrStderr()
	tellTwice(f.inputs, stderr)
	f.prepare(stderr)
	var bad bads
	err = bulk.Write(f.dir, m, func(add func(*bulk.Frame) error) error { return f.frames(cmd, m, &bad, add) })
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "firstseen: shard %d of %d: %d documents, %d rows\n", m.Shard, m.Of, m.Documents, m.Rows)
	return bad.end()
}

func (f *featuresFlags) prepare(stderr io.Writer) {
	f.jobs = checkJobs(f.jobs, stderr)
	runtime.GOMAXPROCS(f.jobs)
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
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: shard %d of %d already exists: %d documents, and nothing was done\n", m.Shard, m.Of, made.Documents)
	return nil
}

func (f *featuresFlags) frames(cmd *cobra.Command, m *bulk.Manifest, bad *bads, add func(*bulk.Frame) error) error {
	newReader := func() (corpus.Reader[bulk.Frame], error) {
		extractor, err := feature.NewExtractor(f.scheme)
		var d bulk.Doc
		return func(b *corpus.Block, docs iter.Seq[*corpus.Document], frame *bulk.Frame) error {
			frame.Reset()
			for doc := range docs {
				extractor.ExtractFor(&d.Sketch, doc.Text, doc.Exact)
				d.Input, d.At, d.ID, d.Time = b.Input, doc.At, doc.ID, doc.Time
				frame.Add(&d, doc.Text, f.scheme.Key != nil)
			}
			return nil
		}, err
	}
	return inParallel(cmd, &f.inputFlags, f.jobs, bad, newReader, func(_ *corpus.Block, frame *bulk.Frame) error {
		m.Bad = uint64(bad.n)
		return add(frame)
	})
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

// recordsTogether is the number of documents appended to a log before the brokers must answer.
const recordsTogether = 1000

func (f *featuresFlags) appendToLog(cmd *cobra.Command, args []string) error {
	if f.dir != "" || f.secret != "" || cmd.Flags().Changed("shard") || f.log.topic == "" || len(f.log.brokers) == 0 {
		return usageError{errors.New("bulk features: a log needs --brokers and --log, and takes no --out, --shard or --secret")}
	}
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	reach, cancel := context.WithTimeout(cmd.Context(), reaching)
	defer cancel()
	topic, err := follow.Dial(reach, f.log.brokers, f.log.topic, "")
	if err != nil {
		return f.log.unreached(reach, err)
	}
	defer topic.Close()
	scheme, err := f.schemeOf(reach, topic)
	if err != nil {
		return f.log.unreached(reach, err)
	}
	f.prepare(cmd.ErrOrStderr())
	return f.append(cmd, topic, scheme)
}

// schemeOf returns the scheme of a log that takes features.
func (f *featuresFlags) schemeOf(ctx context.Context, topic *follow.Topic) (scheme feature.Scheme, err error) {
	settings, err := follow.First(ctx, topic)
	switch {
	case err != nil:
		return scheme, err
	case settings == nil:
		return scheme, fmt.Errorf("topic %s is empty: begin it with firstseen serve follow --no-key", f.log.topic)
	case !settings.NoKey:
		return scheme, fmt.Errorf("topic %s takes no features, because its first follower had a key: give it documents, or begin another topic with firstseen serve follow --no-key", f.log.topic)
	}
	scheme, ok := feature.Named(settings.Scheme, nil)
	if !ok {
		return scheme, fmt.Errorf("topic %s has the scheme %s, which this firstseen does not know: update firstseen", f.log.topic, settings.Scheme)
	}
	return scheme, nil
}

func (f *featuresFlags) append(cmd *cobra.Command, topic *follow.Topic, scheme feature.Scheme) error {
	now, err := clock()
	if err != nil {
		return err
	}
	newReader := func() (corpus.Reader[[][]byte], error) {
		extractor, err := feature.NewExtractor(scheme)
		return func(_ *corpus.Block, docs iter.Seq[*corpus.Document], records *[][]byte) error {
			*records = (*records)[:0]
			var sketch feature.Sketch
			arrival := now().UnixNano()
			for doc := range docs {
				extractor.ExtractFor(&sketch, doc.Text, doc.Exact)
				*records = append(*records, follow.AppendFeatures(nil, string(doc.ID), arrival, scheme.Name(), &sketch))
			}
			return nil
		}, err
	}
	var bad bads
	n := int64(0)
	err = inParallel(cmd, &f.inputFlags, f.jobs, &bad, newReader, func(_ *corpus.Block, records *[][]byte) error {
		for chunk := range slices.Chunk(*records, recordsTogether) {
			if _, err := topic.Append(cmd.Context(), chunk); err != nil {
				return fmt.Errorf("after %d documents were appended to the log: %w; give the inputs again: those in the log get the same answers", n, err)
			}
			n += int64(len(chunk))
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d documents in the log\n", n)
	return bad.end()
}
