package server

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
)

// sayEvery is the time between two lines about a primary that is away.
const sayEvery = time.Minute

// silence of a primary, which sends something every 250 ms, ends a connection. Tests shorten it.
var silence = 10 * time.Second

var errSilent = errors.New("it has sent nothing for 10 seconds")

// lag is what a standby lacks.
type lag struct {
	up         bool      // connected to the primary
	has, wants uint64    // entries of the copy, and those that the primary has told of
	whole      time.Time // when it last had all of them
}

// note changes the lag.
func (b *Standby) note(change func(*lag)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if change(&b.lag); b.lag.up && b.lag.has >= b.lag.wants {
		b.lag.whole = time.Now()
	}
}

// behind returns the entries that the copy lacks, and the seconds since it lacked none.
func (b *Standby) behind() (l lag, seconds float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lag, time.Since(b.lag.whole).Seconds()
}

// run follows the primary until ctx ends.
func (b *Standby) run(ctx context.Context) {
	defer close(b.stopped)
	said := time.Time{}
	for gone := false; ctx.Err() == nil && b.failed.Err() == nil; {
		var err error
		wait := cmp.Or(b.cfg.retry, time.Second)
		if gone || b.service == nil {
			var taken bool
			if taken, err = b.replace(ctx); taken && err != nil {
				wait *= 60 // a snapshot is work for the primary
			}
		}
		if err == nil {
			err = b.follow(ctx)
		}
		l, seconds := b.behind()
		if l.up {
			b.note(func(l *lag) { l.up = false })
			said = time.Time{}
		}
		var refused *client.StatusError
		gone = errors.As(err, &refused) && refused.Status == http.StatusGone
		if ctx.Err() == nil && time.Since(said) > sayEvery {
			said = time.Now()
			slog.Warn("not following the primary: trying again", "primary", b.cfg.Primary.URL, "lag_seconds", seconds, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// follow repeats the entries of the primary until the connection ends.
func (b *Standby) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watch.Stop()
	own := b.service.own
	at, err := own.position()
	if err != nil {
		return err
	}
	in, err := b.cfg.Primary.Stream(ctx, http.MethodGet, "/v1/entries/"+at.String(), "", nil)
	if err != nil {
		return err
	}
	defer in.Close()
	var h header
	entries, err := journal.Served.NewReader(&watched{in, watch}, &h)
	if err != nil {
		return fmt.Errorf("reading the primary's entries: %w", err)
	}
	if string(h.Rules) != string(own.header.Rules) {
		return fmt.Errorf("the primary decides by the rules %s, and this standby by %s: start it with the same flags and version of firstseen", h.Rules, own.header.Rules)
	}
	slog.Info("following the primary", "primary", b.cfg.Primary.URL, "entries", at.Entries)
	b.note(func(l *lag) { l.up, l.has, l.wants = true, at.Entries, max(at.Entries+1, l.wants) }) // not whole before it tells
	for {
		group, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("it has closed the connection")
		}
		if err != nil {
			return fmt.Errorf("reading the primary's entries: %w", err)
		}
		if err := b.take(own, group); err != nil {
			return err
		}
	}
}

// watched is a reader whose pauses are watched. A group may take long on a slow line.
type watched struct {
	io.Reader
	watch *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	w.watch.Reset(silence)
	defer w.watch.Stop()
	return w.Reader.Read(p)
}

// take repeats a group of entries, or notes how many the primary has.
func (b *Standby) take(own *journaled, group []byte) error {
	if len(group) == 8 {
		b.note(func(l *lag) { l.wants = binary.LittleEndian.Uint64(group) })
		return nil
	}
	return eachStep(group, func(steps []*apply.Step) error {
		err := own.repeatQueued(steps)
		if err == nil {
			b.note(func(l *lag) { l.has += uint64(len(steps)) })
		}
		return err
	})
}

// repeatQueued is repeat between other work. It waits while that fills the queue.
func (j *journaled) repeatQueued(steps []*apply.Step) error {
	for {
		err := j.between(len(steps), false, func() error { return j.repeat(steps) })
		if !errors.Is(err, apply.ErrBusy) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
