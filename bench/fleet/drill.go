package fleet

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/internal/engine/follow"
)

// progress counts the documents answered. The clients stop at the limit.
type progress struct{ done, limit atomic.Int64 }

// often is the time between two looks at the progress.
const often = 5 * time.Millisecond

// wait waits until a condition holds, and looks again and again.
func wait(ctx context.Context, every time.Duration, holds func() bool) error {
	for !holds() {
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
	return nil
}

// drill starts the nodes, and kills them in turn and, each fourth time, the broker. Each kill comes in
// the middle of its share of the documents, and the clients do not begin the next share before
// readiness and lag are right again. After a quarter of the kills the last follower begins.
func (t *Trial) drill(ctx context.Context, nodes []*node, at *progress) error {
	running := nodes[:fronts+1]
	for _, n := range running {
		t.keep(n)
	}
	killed := 0
	for i := range t.Kills {
		at.limit.Store(t.total() * int64(i+1) / int64(t.Kills))
		if err := wait(ctx, often, func() bool { return at.done.Load() >= t.total()*int64(2*i+1)/int64(2*t.Kills) }); err != nil {
			return err
		}
		if i == t.Kills/4 {
			if err := t.join(ctx, running, nodes[len(running)]); err != nil {
				return err
			}
			running = nodes
		}
		var what string
		var err error
		if i%4 == 3 {
			what, err = t.killBroker(ctx, running)
		} else { // as a rolling upgrade does: the followers first, and then the front ends
			what, err = t.killNode(ctx, running[len(running)-1-killed%len(running)])
			killed++
		}
		if err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
		lag, err := t.lag(ctx, running)
		if err != nil {
			return fmt.Errorf("after kill %d: %w", i+1, err)
		}
		t.say("kill %d of %d: %s; then %d records behind at most; %d of %d documents", i+1, t.Kills, what, lag, at.done.Load(), t.total())
	}
	at.limit.Store(math.MaxInt64)
	return nil
}

// readyAgain bounds the time in which a node is ready again, on a busy machine.
const readyAgain = time.Minute

// killNode kills a node, and waits until it is ready again.
func (t *Trial) killNode(ctx context.Context, n *node) (what string, err error) {
	begun, starts, lag := time.Now(), n.kill(t.Program), int64(0)
	err = n.until(ctx, readyAgain, "is not ready again", func() bool {
		now, _ := n.metric("firstseen_log_lag_records")
		lag = max(lag, now)
		return n.begun() > starts && n.ready()
	})
	return fmt.Sprintf("%s, %d records behind at most, ready again after %.1f s", n.name, lag, time.Since(begun).Seconds()), err
}

// killBroker kills the broker, waits until no node is ready, starts it, and waits until all are.
func (t *Trial) killBroker(ctx context.Context, nodes []*node) (what string, err error) {
	begun := time.Now()
	if err := t.Broker.Kill(); err != nil {
		return "", err
	}
	err = each(nodes, func(n *node) error {
		return n.until(ctx, 10*time.Second, "does not say that its broker is gone", func() bool {
			up, ok := n.metric("firstseen_log_up")
			return ok && up == 0 && !n.ready()
		})
	})
	gone := time.Since(begun)
	if err != nil {
		return "", err
	}
	if err := t.Broker.Start(ctx); err != nil {
		return "", err
	}
	back := time.Now()
	err = each(nodes, func(n *node) error {
		return n.until(ctx, readyAgain, "does not say that its broker is back", func() bool {
			up, _ := n.metric("firstseen_log_up")
			return up == 1 && n.ready()
		})
	})
	return fmt.Sprintf("the broker, none ready after %.1f s, all ready %.1f s after it answers again", gone.Seconds(), time.Since(back).Seconds()), err
}

// each calls f for all nodes at once.
func each(nodes []*node, f func(*node) error) error {
	var all errgroup.Group
	for _, n := range nodes {
		all.Go(func() error { return f(n) })
	}
	return all.Wait()
}

// join takes from the log all records that no running node needs, and starts another follower. It
// kills that one three times while it begins.
func (t *Trial) join(ctx context.Context, running []*node, n *node) error {
	least := int64(math.MaxInt64)
	for _, other := range running {
		next, ok := other.metric("firstseen_log_next_offset")
		if code, _ := other.status("/v1/snapshot"); !ok || code != 200 { // takes a checkpoint
			return fmt.Errorf("%s gives no snapshot: status %d", other.name, code)
		}
		least = min(least, next)
	}
	if err := removeBefore(ctx, t.Broker.Address(), least); err != nil {
		return err
	}
	t.keep(n)
	for kill := range 3 {
		if err := pause(ctx, time.Duration(kill+1)*150*time.Millisecond); err != nil {
			return err
		}
		n.kill(t.Program)
	}
	begun := time.Now()
	err := n.until(ctx, readyAgain, "does not begin from a snapshot", n.ready)
	t.say("%s begins from a snapshot: ready %.1f s after the last of three kills, on a log from offset %d", n.name, time.Since(begun).Seconds(), least)
	return err
}

// lag waits until all nodes know the end of the log, and returns the largest number of records that
// one has not decided. A node must know the end within 10 seconds, and none beyond it.
func (t *Trial) lag(ctx context.Context, nodes []*node) (largest int64, err error) {
	log, err := follow.Dial(ctx, []string{t.Broker.Address()}, "documents", "")
	if err != nil {
		return 0, err
	}
	defer log.Close()
	_, end, err := log.Bounds(ctx)
	if err != nil {
		return 0, err
	}
	for _, n := range nodes {
		var before, next, lag int64
		err := n.until(ctx, 10*time.Second, "does not know the end of the log", func() bool {
			before, _ = n.metric("firstseen_log_next_offset")
			lag, _ = n.metric("firstseen_log_lag_records")
			next, _ = n.metric("firstseen_log_next_offset")
			largest = max(largest, lag)
			return next+lag >= end
		})
		if err != nil {
			return 0, err
		}
		if _, now, err := log.Bounds(ctx); err != nil || before+lag > now {
			return 0, fmt.Errorf("%s had decided %d records and lacked %d of %d (%v)", n.name, before, lag, now, err)
		}
	}
	return largest, nil
}
