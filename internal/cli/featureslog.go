package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/follow"
)

// recordsTogether is how many documents are appended to a log before the brokers' answers are awaited.
const recordsTogether = 1000

// logged holds the records of a block for a log.
type logged struct {
	records [][]byte
	bad     []*corpus.BadRecord
}

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
	now, err := clock()
	if err != nil {
		return err
	}
	create := func() *logged { return new(logged) }
	newWorker := func() func(*corpus.Block, *logged) error {
		extractor, err := feature.NewExtractor(scheme)
		return func(b *corpus.Block, x *logged) error {
			if err != nil {
				return err
			}
			return x.fill(b, extractor, scheme.Name(), now().UnixNano())
		}
	}
	bad, noun, n := bads{named: cmd.ErrOrStderr()}, "", int64(0)
	err = corpus.EachParallel(cmd.Context(), f.documents(), f.Workers, create, newWorker, func(b *corpus.Block, x *logged) error {
		noun = b.Format.Noun()
		for _, r := range x.bad {
			bad.add(r)
		}
		if f.MaxBad >= 0 && bad.n > int64(f.MaxBad) {
			return errTooManyBad
		}
		for chunk := range slices.Chunk(x.records, recordsTogether) {
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

func (x *logged) fill(b *corpus.Block, e *feature.Extractor, scheme string, arrival int64) error {
	x.records, x.bad = x.records[:0], x.bad[:0]
	parser, err := b.Format.NewParser("")
	if err != nil {
		return err
	}
	var sketch feature.Sketch
	for doc := range parser.Parse(b) {
		switch {
		case doc.Bad != nil:
			x.bad = append(x.bad, doc.Bad)
		case !doc.Empty && !doc.Other:
			e.ExtractFor(&sketch, doc.Text, doc.Exact)
			x.records = append(x.records, follow.AppendFeatures(nil, string(doc.ID), arrival, scheme, &sketch))
		}
	}
	return nil
}
