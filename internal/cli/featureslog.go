package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/follow"
)

// recordsTogether is how many documents are appended to a log before the brokers' answers are awaited.
const recordsTogether = 1000

// appendToLog appends the features of documents to a log, in the order of the inputs.
func (f *featuresFlags) appendToLog(cmd *cobra.Command, args []string) error {
	if f.dir != "" || f.secret != "" || cmd.Flags().Changed("shard") || f.log.topic == "" || len(f.log.brokers) == 0 {
		return usageError{errors.New("features: a log needs --brokers and --log, and takes no --out, --shard and --secret")}
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
	f.Workers = checkJobs(f.Workers, cmd.ErrOrStderr())
	runtime.GOMAXPROCS(f.Workers)
	limitHeap(f.source.MaxWindow, 0)
	return f.append(cmd, topic, scheme)
}

// schemeOf returns the scheme of a log that takes features.
func (f *featuresFlags) schemeOf(ctx context.Context, topic *follow.Topic) (scheme feature.Scheme, err error) {
	settings, err := follow.First(ctx, topic)
	switch {
	case err != nil:
		return scheme, err
	case settings == nil:
		return scheme, fmt.Errorf("topic %s is empty: begin it with firstseen follow --no-key", f.log.topic)
	case !settings.NoKey:
		return scheme, fmt.Errorf("topic %s takes no features, because its first follower had a key: give it documents, or begin another topic with firstseen follow --no-key", f.log.topic)
	}
	scheme, ok := feature.Named(settings.Scheme, nil)
	if !ok {
		return scheme, fmt.Errorf("topic %s has the scheme %s, which this firstseen does not have: update it", f.log.topic, settings.Scheme)
	}
	return scheme, nil
}

func (f *featuresFlags) append(cmd *cobra.Command, topic *follow.Topic, scheme feature.Scheme) error {
	now, err := clock(os.Getenv(epochVariable))
	if err != nil {
		return err
	}
	newWorker := func() (func(*corpus.Block, iter.Seq[*corpus.Document], *[][]byte) error, error) {
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
	noun, err := inParallel(cmd, &f.options, &bad, newWorker, func(_ *corpus.Block, records *[][]byte) error {
		if f.MaxBad >= 0 && bad.n > int64(f.MaxBad) {
			return errTooManyBad
		}
		for chunk := range slices.Chunk(*records, recordsTogether) {
			if _, err := topic.Append(cmd.Context(), chunk); err != nil {
				return fmt.Errorf("behind %d documents in the log: %w; give the inputs again: what is there is answered again", n, err)
			}
			n += int64(len(chunk))
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d documents in the log\n", n)
	return bad.end(n+bad.n, noun)
}
