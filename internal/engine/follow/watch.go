package follow

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// A broker that stops to answer makes readiness fail within lookEvery and lookPatience together.
const (
	lookEvery    = 2 * time.Second
	lookPatience = 5 * time.Second
)

// storeEvery bounds the age of the place that a killed follower goes on from. A log may lose older
// records, however slowly it grows.
const storeEvery = 10 * time.Minute

// watched is the state of a follower's log while it decides. It is safe for concurrent use.
type watched struct {
	away    atomic.Bool  // no broker answers
	end     atomic.Int64 // of the log, when a broker last answered
	decided atomic.Int64 // time of the last decided record, in Unix ns
	current atomic.Int64 // Unix ns at which no record was last found undecided
	started time.Time
}

// watch asks for the end of the log again and again. It logs when the brokers stop to answer, and
// when they answer again. It has the place stored in time.
func (f *Follower) watch() {
	name, _ := f.cfg.Log.Topic()
	gone, stored, storedAt := time.Time{}, f.Next(), time.Now()
	for tick := time.NewTicker(min(lookEvery, f.cfg.storeEvery)); ; {
		begun := time.Now()
		err := f.look()
		switch {
		case f.ctx.Err() != nil:
			tick.Stop()
			return
		case err != nil && !f.away.Swap(true):
			gone = begun
			slog.Error("no broker answers: documents get 503 until one does", "topic", name, "error", err)
		case err == nil && f.away.Swap(false):
			slog.Info("a broker answers again", "topic", name, "away", time.Since(gone).Round(time.Second))
		}
		if next := f.Next(); next != stored && time.Since(storedAt) >= f.cfg.storeEvery {
			stored, storedAt = next, time.Now()
			f.loop.Put(0, f.store)
		}
		select {
		case <-tick.C:
		case <-f.ctx.Done():
		}
	}
}

// store takes a checkpoint. It belongs to the deciding goroutine.
func (f *Follower) store() {
	if f.ctx.Err() != nil {
		return
	}
	if err := f.cfg.Index.Checkpoint(); err != nil {
		f.loop.Fail(err)
	}
}

// look asks once for the end of the log.
func (f *Follower) look() error {
	ctx, cancel := context.WithTimeout(f.ctx, lookPatience)
	defer cancel()
	_, end, err := f.cfg.Log.Bounds(ctx)
	if err != nil {
		return err
	}
	f.end.Store(end)
	if f.Next() >= end {
		f.current.Store(time.Now().UnixNano())
	}
	return nil
}

// Away reports whether no broker answers.
func (f *Follower) Away() bool { return f.away.Load() }

// Lag returns the number of undecided records, and the seconds since the last decided one arrived
// or, if that is less, since none was undecided. Both may be 2 seconds old.
func (f *Follower) Lag() (records int64, seconds float64) {
	if records = max(f.end.Load()-f.Next(), 0); records == 0 {
		return 0, 0
	}
	since := cmp.Or(max(f.decided.Load(), f.current.Load()), f.started.UnixNano())
	return records, max(time.Since(time.Unix(0, since)).Seconds(), 0)
}
