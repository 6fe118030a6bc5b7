package pipeline

import (
	"context"
	"sync"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// The limits here bound the part of its input that a run holds, whatever the number of workers. It
// never holds more than this in records read and not yet decided, with the data made from them.
// Half of it is in buffers kept for the next records. Every record counts twice its length, for its
// text. A record that would take all of it has the pipeline to itself.
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
		free: make(chan *block, n), work: make(chan *block, n), order: make(chan *block, n),
		inFlight: semaphore.NewWeighted(inFlightBytes), extra: &extra{most: inFlightBytes}, committed: make(chan struct{}),
		size: min(max(bufferBytes/(2*n), minBlock), maxBlock),
	}
	p.extra.freed.L = &p.extra.mu
	for range n {
		p.free <- &block{done: make(chan struct{}, 1)}
	}
	job.Source.Bound(p.size, func(ctx context.Context, n int) error {
		return p.take(ctx, 2*int64(n))
	})
	return p
}

// take adds so many bytes to the reader's share of the bytes in flight. Only the reader waits for
// bytes, and all others give theirs back in the end, so it gets them.
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

// settle sets the reader's share to exactly so many bytes: it may have taken more for a record of
// unknown end.
func (p *pipeline) settle(ctx context.Context, bytes int64) error {
	if excess := p.held - min(bytes, inFlightBytes); excess > 0 {
		p.inFlight.Release(excess)
		p.held -= excess
	}
	return p.take(ctx, bytes)
}

// recordBytes is the memory that a block holds per record beside its bytes and features: the reason
// of a bad one, the sketch data of any other.
const recordBytes = int64(unsafe.Sizeof(record{})) + feature.MaxData + dedup.GroupDocumentBytes

// shortest is the least that a segment takes of a record, in bytes: one character written out in
// full is wide enough, and something must end it.
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
		stored += size // picks: 16 bytes for each 20 words
	}
	texts := size // as the block's room holds them
	return size + texts + stored + records*recordBytes + features*int64(unsafe.Sizeof(feature.Feature{})) + keys*dedup.GroupKeyBytes
}

// giveBack makes a block ready for other records. It drops the parts that the next may not need.
func (p *pipeline) giveBack(b *block) {
	b.source.Release()
	if cap(b.features)*int(unsafe.Sizeof(feature.Feature{})) > p.size {
		b.features, b.group = nil, dedup.Group{}
	}
	p.inFlight.Release(b.weight)
	p.extra.giveBack(b.extra)
	b.extra = 0
	p.free <- b
}

// extra bounds the memory of blocks beyond their weight: compressed texts, whose length is unknown
// beforehand. The block decided next gets all it asks for, or no other would ever give back
// anything.
type extra struct {
	mu    sync.Mutex
	freed sync.Cond
	taken int64
	most  int64
	next  int64 // the block decided next
}

// take waits until a block may have that many more bytes, or the run is over.
func (e *extra) take(ctx context.Context, block, bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taken+bytes > e.most && block > e.next {
		defer context.AfterFunc(ctx, e.wake)()
	}
	for e.taken+bytes > e.most && block > e.next && ctx.Err() == nil {
		e.freed.Wait()
	}
	e.taken += bytes
}

func (e *extra) wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.freed.Broadcast()
}

func (e *extra) giveBack(bytes int64) {
	if bytes > 0 {
		e.mu.Lock()
		e.taken -= bytes
		e.mu.Unlock()
		e.freed.Broadcast()
	}
}

// first notes the block decided next.
func (e *extra) first(block int64) {
	e.mu.Lock()
	e.next = block
	e.mu.Unlock()
	e.freed.Broadcast()
}
