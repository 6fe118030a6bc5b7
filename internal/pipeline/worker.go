package pipeline

import (
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// worker holds the private data of one goroutine that parses and extracts.
type worker struct {
	job       *Job
	parser    corpus.Parser
	extractor *feature.Extractor
	set       feature.Set
	help      func() // with the commit, if that needs any; nil without a pool
	linker    dedup.Linker
}

func (j *Job) newWorker() (*worker, error) {
	extractor, err := feature.NewExtractor(j.Scheme)
	return &worker{job: j, extractor: extractor}, err
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

// fill parses the block and extracts the features of its documents.
func (w *worker) fill(b *block) (err error) {
	if w.parser == nil {
		field := ""
		if w.job.Annotate { // every record is answered
			field = AnnotationField
		}
		if w.parser, err = b.source.Format.NewParser(field); err != nil {
			return err
		}
	}
	b.records, b.features, b.data, b.added = b.records[:0], b.features[:0], b.data[:0], b.added[:0]
	b.picks, b.lists = b.picks[:0], b.lists[:0]
	for doc := range w.parser.Parse(&b.source) {
		if w.help != nil {
			w.help()
		}
		added := len(b.added)
		r := record{Document: *doc, sum: output.RecordSum(doc.Raw)}
		if r.isDocument() {
			w.extractor.ExtractFor(&w.set, doc.Text, doc.Exact)
			b.features = append(b.features, w.set.Features...)
			b.data = append(b.data, w.set.Data...)
			b.picks = append(b.picks, w.set.Picks...)
			b.lists = append(b.lists, w.set.PickList...)
			if w.job.Window.Told {
				b.added = w.job.appendTime(b.added, doc)
			}
			if w.job.Store != nil {
				b.added = w.job.Store(b.added, b.source.File, doc)
			}
			b.added = dedup.AppendPicks(b.added, w.set.PickList)
			r.set, r.added = w.set, b.added[added:]
		}
		b.records = append(b.records, r)
	}
	b.share()
	if w.help != nil { // the documents are decided together
		b.group.Reset()
		for i := range b.records {
			if r := &b.records[i]; r.isDocument() {
				b.group.Add(r.document())
			}
		}
		w.linker.Link(&b.group)
	}
	if w.job.Parsed != nil {
		return w.job.Parsed(&b.source, b.all())
	}
	return nil
}

// share gives each record its part of the block's slices, when none of these moves any more.
func (b *block) share() {
	features, data, picks, lists, added := b.features, b.data, b.picks, b.lists, b.added
	for i := range b.records {
		r := &b.records[i]
		r.set.Features, features = cut(features, len(r.set.Features))
		r.set.Data, data = cut(data, len(r.set.Data))
		r.set.Picks, picks = cut(picks, len(r.set.Picks))
		r.set.PickList, lists = cut(lists, len(r.set.PickList))
		r.added, added = cut(added, len(r.added))
	}
}

// cut cuts off the first n of a slice.
func cut[T any](s []T, n int) (first, rest []T) { return s[:n:n], s[n:] }

// pool is the workers as helpers of the committing goroutine. They extract, and between two
// documents look for a phase of a commit to help with. So no more goroutines run than there are
// processors, and a phase waits only for workers that have begun one of its tasks.
type pool struct {
	size  int // workers, and the committing goroutine as number 0
	phase atomic.Pointer[phase]
	idle  chan struct{} // received from by workers that have nothing to extract
	took  time.Duration // in run, with more than one task
}

// phase is work in tasks.
type phase struct {
	f     func(worker, task int)
	tasks int64
	next  atomic.Int64  // task to begin with
	left  atomic.Int64  // tasks not yet done
	done  chan struct{} // has something once none is left
}

func newPool(workers int) *pool { return &pool{size: workers + 1, idle: make(chan struct{})} }

// run calls f with 0 to tasks-1, and returns when all calls have. It is for the
// goroutine that commits.
func (c *pool) run(tasks int, f func(worker, task int)) {
	if tasks <= 1 {
		for task := range tasks {
			f(0, task)
		}
		return // no worker could help
	}
	begun := time.Now()
	defer func() { c.took += time.Since(begun) }()
	p := &phase{f: f, tasks: int64(tasks), done: make(chan struct{}, 1)}
	p.left.Store(p.tasks)
	c.phase.Store(p)
	for range min(tasks, c.size) - 1 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
	p.work(0)
	<-p.done
	c.phase.Store(nil)
}

// work does tasks while there are any to begin with.
func (p *phase) work(worker int) {
	for {
		task := p.next.Add(1) - 1
		if task >= p.tasks {
			return
		}
		p.f(worker, int(task))
		if p.left.Add(-1) == 0 {
			p.done <- struct{}{}
		}
	}
}

// help has a worker, from 1 on, do its part of the phase under way, if there is one.
func (c *pool) help(worker int) {
	p := c.phase.Load()
	if p == nil || p.next.Load() >= p.tasks {
		return
	}
	p.work(worker)
	runtime.Gosched() // the goroutine waiting for the phase goes first
}
