// Package fleet has many clients submit near copies to several front ends on one log. It kills
// front ends, followers and the broker, looks at readiness and lag each time, and compares answers,
// indexes and verdicts. One follower begins late, from a snapshot, on a log without its beginning.
package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Broker is a broker of the Kafka protocol whose records survive a kill.
type Broker interface {
	Address() string
	Start(ctx context.Context) error
	Kill() error
}

// Trial is one run of a fleet.
type Trial struct {
	Program string // path of firstseen
	Before  string // path of the version before, "" for none: each node begins with it, until it is killed
	Dir     string // for indexes and sockets
	Broker  Broker
	Groups  int // of texts: near copies of each other, in four forms
	Clients int // each submits all texts, in a different order
	Kills   int // of front ends, followers and the broker, in turn
	Out     io.Writer

	begun time.Time
	keep  func(*node) // starts a node, and again when it ends
}

const (
	forms     = 4 // of a text
	fronts    = 3
	followers = 2
)

// say prints a line with the seconds since the start.
func (t *Trial) say(format string, args ...any) {
	fmt.Fprintf(t.Out, "%6.1f s  %s\n", time.Since(t.begun).Seconds(), fmt.Sprintf(format, args...))
}

// Run fails if two documents of a group are kept, a removed one names another than the kept one,
// indexes or verdicts differ, or a node is wrong about its readiness or lag.
func (t *Trial) Run(ctx context.Context) (err error) {
	t.begun = time.Now()
	if err := t.Broker.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Broker.Kill()) }()
	if err := makeTopics(ctx, t.Broker.Address()); err != nil {
		return err
	}
	t.say("the broker answers")
	watched, stop := context.WithCancel(ctx)
	var all errgroup.Group
	defer func() {
		stop()
		_ = all.Wait() // after an error, which matters more
	}()
	t.keep = func(n *node) { all.Go(func() error { return n.keep(watched) }) }
	nodes := t.nodes()
	answers, err := t.load(ctx, nodes)
	if err != nil {
		return errors.Join(err, ctx.Err())
	}
	t.say("%d documents of %d clients answered, with %d kills", t.total(), t.Clients, t.Kills)
	end, err := t.reached(ctx, nodes)
	if err != nil {
		return err
	}
	t.say("%d records in the log, all of them decided by all", end)
	stop()
	if err := all.Wait(); err != nil {
		return err
	}
	return t.compare(ctx, nodes, answers, end)
}

// compare compares what is left of the run.
func (t *Trial) compare(ctx context.Context, nodes []*node, answers [][]answer, end int64) error {
	for _, check := range []func() error{
		func() error { return t.checkAnswers(answers) },
		func() error { return t.checkIndexes(ctx, nodes) },
		func() error { return checkVerdicts(ctx, t.Broker.Address(), end, t.Out) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	restarts := 0
	for _, n := range nodes {
		restarts += n.ended
	}
	for _, n := range nodes {
		if n.program != t.Program {
			return fmt.Errorf("%s is still of the version before", n.name)
		}
	}
	fmt.Fprintf(t.Out, "%d ends of front ends and followers by themselves\n", restarts)
	return nil
}

func (t *Trial) total() int64 { return int64(t.Groups * forms * t.Clients) }

// nodes returns the front ends, and then the followers.
func (t *Trial) nodes() (nodes []*node) {
	for i := range fronts + followers {
		n := &node{program: cmp.Or(t.Before, t.Program), dir: t.Dir, name: fmt.Sprint("n", i)}
		n.args = []string{"--index", n.name, "--no-key", "--brokers", t.Broker.Address(), "--listen", "unix:" + n.name + ".http"}
		switch {
		case i < fronts:
			n.args = append([]string{"serve", "--log", "documents", "--lines", "unix:" + n.name + ".lines"}, n.args...)
		case i == fronts:
			n.args = append([]string{"serve", "follow", "--topic", "documents", "--verdicts", "verdicts"}, n.args...)
		default: // begins late; it writes the verdicts that another has written
			n.args = append([]string{"serve", "follow", "--topic", "documents", "--verdicts", "verdicts", "--from", fmt.Sprintf("unix:n%d.http", fronts)}, n.args...)
			n.program = t.Program // the version before may have no snapshots
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// load has the clients submit all texts during the drill.
func (t *Trial) load(ctx context.Context, nodes []*node) (answers [][]answer, err error) {
	var at progress
	answers = make([][]answer, t.Clients)
	all, ctx := errgroup.WithContext(ctx)
	for c := range t.Clients {
		all.Go(func() (err error) {
			answers[c], err = t.give(ctx, c, nodes[c%fronts], &at)
			return err
		})
	}
	all.Go(func() error { return t.drill(ctx, nodes, &at) })
	return answers, all.Wait()
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkAnswers compares the answers of all clients.
func (t *Trial) checkAnswers(clients [][]answer) error {
	kept := make([]string, t.Groups)
	for _, answers := range clients {
		for _, a := range answers {
			switch {
			case a.Kept && kept[a.group] != "" && kept[a.group] != a.ID:
				return fmt.Errorf("%s and %s are both kept", kept[a.group], a.ID)
			case a.Kept:
				kept[a.group] = a.ID
			}
		}
	}
	removed := 0
	for _, answers := range clients {
		for _, a := range answers {
			if kept[a.group] == "" || !a.Kept && a.Of != kept[a.group] {
				return fmt.Errorf("%s is a copy of %q, and %q is kept", a.ID, a.Of, kept[a.group])
			}
			if !a.Kept {
				removed++
			}
		}
	}
	fmt.Fprintf(t.Out, "%d kept, one of each; %d removed, each naming it\n", len(kept), removed)
	return nil
}

// checkIndexes compares the contents of the indexes.
func (t *Trial) checkIndexes(ctx context.Context, nodes []*node) error {
	for _, what := range []string{"documents", "keys"} {
		var first []byte
		for _, n := range nodes {
			cmd := exec.CommandContext(ctx, t.Program, "index", "dump", filepath.Join(t.Dir, n.name), "--what", what)
			out, err := cmd.Output()
			switch {
			case err != nil:
				return fmt.Errorf("dumping %s: %w", n.name, err)
			case first == nil:
				first = out
			case !bytes.Equal(first, out):
				return fmt.Errorf("the %s of %s differ from those of %s", what, n.name, nodes[0].name)
			}
		}
		fmt.Fprintf(t.Out, "the %s of %d indexes are equal, %d bytes\n", what, len(nodes), len(first))
	}
	for _, n := range nodes {
		if out, err := exec.CommandContext(ctx, t.Program, "index", "check", filepath.Join(t.Dir, n.name)).CombinedOutput(); err != nil {
			return fmt.Errorf("checking %s: %w\n%s", n.name, err, out)
		}
	}
	return nil
}

// text returns a form of a text; the first has no edit. Another link makes no other text.
func text(group, form int) string {
	var b bytes.Buffer
	for i := range 6 {
		fmt.Fprintf(&b, "The sentence s%[1]dg%[2]d of group g%[2]d says what only%[2]d it says%[2]d. ", i, group)
	}
	if form > 0 {
		fmt.Fprintf(&b, "See https://example.org/%d", form)
	}
	return b.String()
}

// order returns a client's order of the texts, each as group times forms plus form.
func (t *Trial) order(client int) []int {
	return slices.Clone(rand.New(rand.NewPCG(uint64(client), 3)).Perm(t.Groups * forms))
}
