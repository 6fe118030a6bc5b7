package pipeline

import (
	"context"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// What a run holds of its input: never more than this in records that are read
// and not yet decided, with what was made of them, and half of it in buffers kept
// for the next ones, whatever the number of workers. Of every record twice its
// length is counted, for its text; one that would take all of it has the pipeline
// to itself.
const (
	inFlightBytes = 32 << 20
	bufferBytes   = inFlightBytes / 2
	minBlock      = 32 << 10
	maxBlock      = 1 << 20
)

func newPipeline(job *Job, c *committer) *pipeline {
	n := max(job.Workers, 1) * batchesPerWorker
	p := &pipeline{
		job: job, committer: c,
		free: make(chan *batch, n), work: make(chan *batch, n), order: make(chan *batch, n),
		inFlight: semaphore.NewWeighted(inFlightBytes), committed: make(chan struct{}),
		size: min(max(bufferBytes/(2*n), minBlock), maxBlock),
	}
	for range n {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}
	job.Source.Bound(p.size, func(ctx context.Context, n int) error {
		return p.take(ctx, 2*int64(n))
	})
	return p
}

// take has the reader hold so many bytes of what may be in flight. As nobody else
// waits for bytes, and all others give theirs back in the end, it gets them.
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

// settle has the reader hold just so many bytes: it may have taken more for a record
// whose end it did not know.
func (p *pipeline) settle(ctx context.Context, bytes int64) error {
	if over := p.held - min(bytes, inFlightBytes); over > 0 {
		p.inFlight.Release(over)
		p.held -= over
	}
	return p.take(ctx, bytes)
}

// recordBytes is what a batch holds of one beside its bytes and features: a bad one
// has its reason, any other the data of its sketch.
const recordBytes = int64(unsafe.Sizeof(record{})) + 128 + dedup.BatchDocumentBytes

// shortest is the least that a segment takes of a record, in bytes: a character that
// is written out in full is wide enough for one, and something must end it.
const shortest = 4

// weigh bounds what a batch will hold before it is parsed.
func (p *pipeline) weigh(b *batch) int64 {
	size, records := int64(len(b.block.Data)), int64(b.block.Records)
	features := min(records*int64(p.job.Scheme.Features()), size/shortest)
	keys := int64(0)
	if p.job.Workers > 1 {
		keys = records + features
	}
	texts := size // as the block's room holds them
	return size + texts + records*recordBytes + features*int64(unsafe.Sizeof(feature.Feature{})) + keys*dedup.BatchKeyBytes
}

// giveBack makes a batch ready for other records. What the next may not need is
// dropped with it.
func (p *pipeline) giveBack(b *batch) {
	b.block.Release()
	if cap(b.features)*int(unsafe.Sizeof(feature.Feature{})) > p.size {
		b.features, b.together = nil, dedup.Batch{}
	}
	p.inFlight.Release(b.weight)
	p.free <- b
}

// release gives back what a failed run leaves in flight, once the reader is done.
func (p *pipeline) release() {
	for b := range p.order {
		b.block.Release()
	}
}
