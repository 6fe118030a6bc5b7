// Package pipeline drives one run. Documents are read and extracted in parallel, decided in input
// order by one goroutine, and written with their verdicts. Checkpoints make index and outputs
// agree, so that a killed run is continued with the same bytes.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Source yields the records of a run: a [corpus.Source], or blocks read before.
type Source interface {
	Bound(blockSize int, room func(ctx context.Context, n int) error)
	Next(ctx context.Context, b *corpus.Block) error
	Close() error
}

// Job is one pass over inputs: the user's choices, and the objects opened for it.
type Job struct {
	Choices
	Args   []string // the INPUT arguments, for messages
	Inputs []input.Input
	// Out, Report and Rejects name the outputs, "" for none.
	Out, Report, Rejects string
	Tree                 *output.TreePlan // nil unless each input has its own output
	// Enclosure encloses the kept records in one file; if nil, they follow one another. Tabled does
	// the same for the report.
	Enclosure, Tabled output.Enclosure
	// Head precedes the kept records in one file. If it is nil, the head of the first input does,
	// if that is a pipe.
	Head []byte

	Source  Source
	Outputs Outputs
	Scheme  feature.Scheme
	Workers int   // goroutines that parse and extract; at least 1
	MaxBad  int64 // bad records allowed; negative: any number
	OnFull  index.OnFull
	// CheckpointBytes of records are read between checkpoints; 0 means 256 MiB. A full memory of
	// the table causes another one.
	CheckpointBytes int64
	// Temporary marks a temporary index. The run then cannot be continued, and its output need not
	// be on disk before its end.
	Temporary bool
	// Pipe marks input that cannot be read again. The index is then marked before the first
	// document, and the answers given are saved before Run returns, even with an error.
	Pipe bool
	// Retries answers a kept document that comes again, with its id and text, as the first time:
	// its sender may not have received that answer. It is for pipes with a reader waiting for the
	// answers. In files both copies would count as kept. DropRetries marks such a document as a
	// retry too, but does not keep it, for users who fetch the same pages again.
	Retries, DropRetries bool
	// Ticks causes a checkpoint at each tick, if anything came before it. Runs over files have
	// none, so that their bytes depend on the documents alone.
	Ticks <-chan time.Time
	// Resume continues a run from its last checkpoint; the source must be at Resume.At. Save makes
	// checkpoints store the progress.
	Resume *Progress
	Save   func(Progress) map[string][]byte

	// Sketch, if set, reads sketches from records of known features. Their documents have no texts.
	Sketch func(s *feature.Sketch, record []byte) error
	// Store appends to dst the data stored with a document if it is kept. The data are fields as
	// fields.Append writes them, at most MaxStored bytes. Workers call it.
	Store func(dst []byte, file string, doc *corpus.Document) []byte
	// Parsed gets the records of each block before any of them is decided. Several workers call it,
	// in any order. An error ends the run.
	Parsed func(b *corpus.Block, records iter.Seq[*corpus.Document]) error
	// Replace writes the replacement for a removed document to w, which is Outputs.Kept, and
	// reports whether that leads to the same bytes.
	Replace func(w *output.Writer, r Removal) (revisit bool, err error)
	// Confirm is asked before a document is removed. Passages finds the passages of kept documents.
	Confirm  dedup.Confirmer
	Passages dedup.PassageFinder
	// Each gets every decision, in order, in the deciding goroutine. It may read the index, which
	// with several workers may already have later documents. r is valid until Each returns.
	Each func(id string, r *dedup.Result, counts dedup.Counts) error
	Now  func() time.Time
	Warn func(string)
	Live *Live // receives the progress while running

	began int64 // start of a run with a window, maybe in another process, in Unix seconds
}

// ErrTooManyBad is returned by Run when more than MaxBad records were bad.
var ErrTooManyBad = errors.New("too many bad records")

const blocksPerWorker = 3

// MaxStored bounds the bytes stored with a document: the longest place and revisit record data.
const MaxStored = 1536

// Live is a run's progress, safe to read while it runs.
type Live struct {
	Documents, Removed, Stored atomic.Int64
}

// block is a piece of the source on its way from the reader through a worker to the committer.
type block struct {
	source   corpus.Block
	records  []record
	features []feature.Feature // of all records, one after the other
	data     []byte            // of their sketches, likewise
	added    []byte            // the data stored with them, likewise
	picks    []uint64          // of their sketches, likewise
	lists    []byte            // of picks, likewise
	words    []uint32          // their hashes, likewise
	places   []canon.Place     // likewise
	group    dedup.Group       // all its documents, if there is a pool
	joined   []*block          // those behind it with records here too, see join
	weight   int64             // taken from pipeline.inFlight
	extra    int64             // taken from pipeline.extra, beyond its weight
	waiting  context.Context   // ended by isNext, when the block is the next to be decided
	isNext   func()
	done     chan error // receives the worker's result, and before it errStarved, at most once at a time
}

// record is a record on its way. Its slices point into the block.
type record struct {
	corpus.Document
	of    *block
	sum   uint64 // of Raw
	added []byte
	set   feature.Set
}

// Run reads, judges and writes all documents of the job's source, in order.
//
// One goroutine reads, Workers parse and extract, and one decides in input order with as many
// helpers. Decisions depend on the input alone. Cancelling ctx stops at once; the index then holds
// the last checkpoint.
func Run(ctx context.Context, x *index.Index, job Job) (*report.Summary, error) {
	c, err := newCommitter(x, &job)
	if err != nil {
		return nil, err
	}
	// The filter may be full before the first document.
	if err = x.EnsureCapacity(); err == nil {
		err = newPipeline(&job, c).run(ctx)
	}
	if err != nil && job.Pipe {
		err = x.Stop(err)
	}
	return c.summary(), err
}

type pipeline struct {
	job       *Job
	committer *committer
	free      chan *block  // blocks to fill
	workers   chan *worker // idle workers
	order     chan *block  // to the committer
	ahead     *block       // received from order, but to be decided later
	inFlight  *semaphore.Weighted
	extra     *semaphore.Weighted
	held      int64            // of inFlight, by the reader, for the block it fills
	size      int              // bytes of a block, except for a longer record
	inflation corpus.Inflation // of the input being committed
	readErr   error            // set before order is closed
	last      corpus.Frames    // of the end of the source, likewise
}

func (p *pipeline) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A cancelled run does not wait for the reader: it may be blocked on a terminal or a pipe,
	// which nothing can interrupt.
	go p.read(ctx)
	err := p.commit(ctx)
	cancel()
	for range cap(p.workers) {
		<-p.workers
	}
	err = p.committer.failed(err)
	go func() { // a failed run leaves bytes in flight, which the reader waits for
		for b := range p.order {
			b.source.Release()
		}
		if b := p.ahead; b != nil {
			b.source.Release()
		}
	}()
	return err
}

// read fills blocks and hands each to the committer, in order, and to a worker. It waits while too
// many bytes are in flight.
func (p *pipeline) read(ctx context.Context) {
	defer close(p.order)
	for p.readErr == nil {
		var b *block
		select {
		case b = <-p.free:
		case <-ctx.Done():
			p.readErr = ctx.Err()
			continue
		}
		p.held = 0
		p.readErr = p.job.Source.Next(ctx, &b.source)
		if p.readErr == nil {
			p.readErr = p.settle(ctx, p.weigh(b))
		}
		if p.readErr != nil {
			p.last = b.source.Frames
			b.source.Release()
			continue
		}
		b.weight = p.held
		b.waiting, b.isNext = context.WithCancel(ctx)
		p.order <- b
		select {
		case w := <-p.workers:
			go p.extract(w, b)
		case <-ctx.Done():
			p.readErr = ctx.Err()
		}
	}
	err := p.job.Source.Close()
	if p.readErr == io.EOF {
		p.readErr = err
	}
}

func (p *pipeline) extract(w *worker, b *block) {
	// The length of compressed texts is unknown beforehand. The block decided next gets all it asks
	// for; otherwise no block would ever give anything back.
	b.source.More = func(bytes int) {
		if !p.extra.TryAcquire(int64(bytes)) {
			if len(b.done) == 0 {
				b.done <- errStarved
			}
			if p.extra.Acquire(b.waiting, int64(bytes)) != nil {
				return
			}
		}
		b.extra += int64(bytes)
	}
	err := w.fill(b)
	b.done <- err
	p.workers <- w
}

func (p *pipeline) commit(ctx context.Context) error {
	for {
		b, err := p.next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			if p.readErr != nil {
				return p.readErr
			}
			return p.committer.finish(p.last)
		}
		if err := p.inflation.Add(&b.source); err != nil {
			p.giveBack(b)
			return p.committer.failed(err)
		}
		p.join(ctx, b)
		if err := p.commitBlock(ctx, b); err != nil {
			return err
		}
		if len(p.order) == 0 && p.ahead == nil { // nothing more has come: let the answers go
			if err := p.committer.flush(); err != nil {
				return err
			}
		}
	}
}

// errStarved means that a worker waits for pipeline.extra.
var errStarved = errors.New("waiting for others to release memory")

// join appends to a block the records of those behind it, if they have been read, until there is a
// document for each worker. Blocks are small if there are many workers: alone, the few long
// documents of one would all be decided by one goroutine. Others must not hold more than half of the
// blocks, and a block that waits for memory waits for those before it.
func (p *pipeline) join(ctx context.Context, b *block) {
	for workers := p.job.Workers; len(b.records) < workers && len(b.joined) < workers/2-1 && len(p.order) > 0; {
		next, err := <-p.order, errStarved
		select {
		case err = <-next.done:
		case <-ctx.Done():
		}
		apart := next.source.Input != b.source.Input && (p.committer.out.Tree != nil || next.source.Frames != nil)
		if err != nil || apart || p.inflation.Add(&next.source) != nil {
			if p.ahead = next; err != errStarved {
				next.done <- err
			}
			return
		}
		next.isNext()
		b.source.Read = next.source.Read
		b.records, b.joined = append(b.records, next.records...), append(b.joined, next)
	}
}

// commitBlock commits a block, and ensures that it is given back.
func (p *pipeline) commitBlock(ctx context.Context, b *block) error {
	c := p.committer
	c.left, c.file = nil, b.source.File
	err := c.turn(b)
	if err == nil {
		err = c.commit(ctx, b, p.giveBack)
	}
	if err != nil {
		err = c.failed(fmt.Errorf("%s: %w", c.file, err))
	}
	if c.left != b {
		p.giveBack(b)
	}
	return err
}

// next waits for a block that a worker has finished, and meanwhile does the work due by time. It
// returns nil at the end of the input.
func (p *pipeline) next(ctx context.Context) (b *block, err error) {
	for b, p.ahead = p.ahead, nil; ; {
		order, done := p.order, chan error(nil)
		if b != nil {
			order, done = nil, b.done
			b.isNext()
		}
		select {
		case b = <-order:
			if b == nil {
				return nil, nil
			}
		case err := <-done:
			if err != errStarved {
				return b, err
			}
		case <-p.job.Ticks:
			if err := p.committer.index.Tick(); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
