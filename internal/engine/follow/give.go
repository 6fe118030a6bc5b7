package follow

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
)

// FeatureScheme returns the scheme of a log that takes features. name is that of its topic.
func FeatureScheme(ctx context.Context, topic *Topic, name string) (scheme feature.Scheme, err error) {
	settings, err := First(ctx, topic)
	switch {
	case err != nil:
		return scheme, err
	case settings == nil:
		return scheme, fmt.Errorf("topic %s is empty: begin it with firstseen serve follow --no-key", name)
	case !settings.NoKey:
		return scheme, fmt.Errorf("topic %s takes no features, because its first follower had a key: give it documents, or begin another topic with firstseen serve follow --no-key", name)
	}
	scheme, ok := feature.Named(settings.Scheme, nil)
	if !ok {
		return scheme, fmt.Errorf("topic %s has the scheme %s, which this firstseen does not know: update firstseen", name, settings.Scheme)
	}
	return scheme, nil
}

// FeatureReader returns a maker of readers that turn a block's documents into records of features.
func FeatureReader(scheme feature.Scheme, now func() time.Time) func() (corpus.Reader[[][]byte], error) {
	return func() (corpus.Reader[[][]byte], error) {
		extractor, err := feature.NewExtractor(scheme)
		return func(_ *corpus.Block, docs iter.Seq[*corpus.Document], records *[][]byte) error {
			*records = (*records)[:0]
			var sketch feature.Sketch
			arrival := now().UnixNano()
			for doc := range docs {
				extractor.ExtractFor(&sketch, doc.Text, doc.Exact)
				*records = append(*records, AppendFeatures(nil, string(doc.ID), arrival, scheme.Name(), &sketch))
			}
			return nil
		}, err
	}
}

// recordsTogether is the number of records appended to a log before the brokers must answer.
const recordsTogether = 1000

// AppendAll appends records, and returns the number of those that the brokers have.
func (t *Topic) AppendAll(ctx context.Context, records [][]byte) (added int64, err error) {
	for chunk := range slices.Chunk(records, recordsTogether) {
		if _, err := t.Append(ctx, chunk); err != nil {
			return added, err
		}
		added += int64(len(chunk))
	}
	return added, nil
}
