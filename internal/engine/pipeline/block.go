package pipeline

import (
	"context"
	"iter"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/passages"
)

// These limits bound the part of its input that a run holds, whatever the number of workers.
// Records read but not yet decided, with the data made from them, never exceed inFlightBytes. Half
// of it is in buffers kept for later records. Every record counts twice its length, for its text. A
// record that would take all of it has the pipeline to itself.
const (
	inFlightBytes = 32 << 20
	bufferBytes   = inFlightBytes / 2
	minBlock      = 32 << 10
	maxBlock      = 1 << 20
)

func newPipeline(job *Job, c *committer) *pipeline {
	n := max(job.Workers, 1) * blocksPerWorker
	p := &pipeline{
		job: job, committer: c,
		free: make(chan *block, n), workers: make(chan *worker, max(job.Workers, 1)), order: make(chan *block, n),
		inFlight: semaphore.NewWeighted(inFlightBytes), extra: semaphore.NewWeighted(inFlightBytes),
		size: min(max(bufferBytes/(2*n), minBlock), maxBlock),
	}
	for range n {
		p.free <- &block{done: make(chan error, 2)}
	}
	for range cap(p.workers) {
		p.workers <- &worker{job: job}
	}
	job.Source.Bound(p.size, func(ctx context.Context, n int) error {
		return p.take(ctx, 2*int64(n))
	})
	return p
}

// take raises the reader's share of the bytes in flight. Only the reader waits for bytes, and all
// others return theirs in the end, so it gets them.
func (p *pipeline) take(ctx context.Context, bytes int64) error {
	more := min(bytes, inFlightBytes) - p.held
	if more <= 0 {
		return nil
	}
	if err := p.inFlight.Acquire(ctx, more); err != nil {
		return err
	}
	p.held += more
	return nil
}

// settle sets the reader's share exactly: it may have taken more for a record of unknown length.
func (p *pipeline) settle(ctx context.Context, bytes int64) error {
	if excess := p.held - min(bytes, inFlightBytes); excess > 0 {
		p.inFlight.Release(excess)
		p.held -= excess
	}
	return p.take(ctx, bytes)
}

// recordBytes is the memory that a block holds per record besides its bytes and features. It
// includes the reason of a bad record, or the sketch data of any other.
const recordBytes = int64(unsafe.Sizeof(record{})) + feature.MaxData

// shortest is the least number of bytes that a segment takes in a record. One character written out
// in full is wide enough, and something must end it.
const shortest = 4

// weigh bounds the memory that a block will hold before it is parsed.
func (p *pipeline) weigh(b *block) int64 {
	size, records := int64(len(b.source.Data)), int64(b.source.Records)
	features := min(records*int64(p.job.Scheme.Features()), size/shortest)
	keys := int64(0)
	if p.job.Workers > 1 {
		keys = records + features
	}
	stored := int64(0)
	if p.job.Store != nil {
		stored = records * MaxStored
	}
	if p.job.Window.Told {
		stored += records * storedTime
	}
	if p.job.Scheme.Passages > 0 {
		stored += 3 * size // 4 bytes for the hash of each word, 16 for each 10 words and 192 bytes
	}
	texts := size // see corpus.Block.Room
	return size + texts + stored + records*recordBytes + features*int64(unsafe.Sizeof(feature.Feature{})) + b.group.Memory(records, keys)
}

// giveBack makes a block, and those joined to it, ready for reuse. It drops large parts that the next records may not need.
func (p *pipeline) giveBack(b *block) {
	for _, joined := range b.joined {
		p.giveBack(joined)
	}
	if len(b.joined) > 0 {
		b.records, b.joined = nil, b.joined[:0]
	}
	b.source.Release()
	if cap(b.features)*int(unsafe.Sizeof(feature.Feature{})) > p.size {
		b.features, b.group = nil, dedup.Group{}
	}
	p.inFlight.Release(b.weight)
	p.extra.Release(b.extra)
	b.extra = 0
	p.free <- b
}

type worker struct {
	job       *Job
	parser    corpus.Parser
	extractor *feature.Extractor
	set       feature.Set
}

func (b *block) all() iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		for i := range b.records {
			if !yield(&b.records[i].Document) {
				return
			}
		}
	}
}

func (w *worker) fill(b *block) (err error) {
	if w.parser == nil {
		field := ""
		if w.job.Annotate { // every record is answered
			field = AnnotationField
		}
		if w.extractor, err = feature.NewExtractor(w.job.Scheme); err == nil {
			w.parser, err = b.source.Format.NewParser(field)
		}
		if err != nil {
			return err
		}
	}
	b.records, b.features, b.data, b.added = b.records[:0], b.features[:0], b.data[:0], b.added[:0]
	b.picks, b.lists, b.words, b.places = b.picks[:0], b.lists[:0], b.words[:0], b.places[:0]
	for doc := range w.parser.Parse(&b.source) {
		added := len(b.added)
		r := record{Document: *doc, of: b, sum: output.RecordSum(doc.Raw)}
		if r.isDocument() {
			if w.job.Sketch == nil {
				w.extractor.ExtractFor(&w.set, doc.Text, doc.Exact)
			} else if err := w.job.Sketch(&w.set, doc.Raw); err != nil {
				return err
			}
			b.features = append(b.features, w.set.Features...)
			b.data = append(b.data, w.set.Data...)
			b.picks = append(b.picks, w.set.Picks...)
			b.lists = append(b.lists, w.set.PickList...)
			b.words = append(b.words, w.set.Hashes...)
			b.places = append(b.places, w.set.Places...)
			if w.job.Window.Told {
				b.added = w.job.appendTime(b.added, doc)
			}
			if w.job.Store != nil {
				b.added = w.job.Store(b.added, b.source.File, doc)
			}
			b.added = passages.AppendField(b.added, w.set.PickList)
			r.set, r.added = w.set, b.added[added:]
		}
		b.records = append(b.records, r)
	}
	b.share()
	if w.job.Workers > 1 { // the documents are decided together
		b.group.Reset()
		for i := range b.records {
			if r := &b.records[i]; r.isDocument() {
				b.group.Add(r.document())
			}
		}
		b.group.Link()
	}
	if w.job.Parsed != nil {
		return w.job.Parsed(&b.source, b.all())
	}
	return nil
}

// share gives each record its part of the block's slices, once none of these moves any more.
func (b *block) share() {
	features, data, picks, lists, added := b.features, b.data, b.picks, b.lists, b.added
	words, places := b.words, b.places
	for i := range b.records {
		r := &b.records[i]
		r.set.Features, features = cut(features, len(r.set.Features))
		r.set.Data, data = cut(data, len(r.set.Data))
		r.set.Picks, picks = cut(picks, len(r.set.Picks))
		r.set.PickList, lists = cut(lists, len(r.set.PickList))
		r.set.Hashes, words = cut(words, len(r.set.Hashes))
		r.set.Places, places = cut(places, len(r.set.Places))
		r.added, added = cut(added, len(r.added))
	}
}

func cut[T any](s []T, n int) (first, rest []T) { return s[:n:n], s[n:] }
