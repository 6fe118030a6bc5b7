package pipeline

import (
	"runtime"
	"sync/atomic"
	"time"
)

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
