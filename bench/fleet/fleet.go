// Package fleet has many clients submit near copies to several front ends on one log. It kills
// front ends, followers and the broker, and compares answers, indexes and verdicts.
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
	"sync/atomic"
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
}

const (
	forms     = 4 // of a text
	fronts    = 3
	followers = 2
)

// progress counts the documents answered.
type progress struct{ done atomic.Int64 }

// Run fails if two documents of a group are kept, a removed one names another than the kept one, or
// indexes or verdicts differ.
func (t *Trial) Run(ctx context.Context) (err error) {
	if err := t.Broker.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Broker.Kill()) }()
	if err := makeTopics(ctx, t.Broker.Address()); err != nil {
		return err
	}
	nodes := t.nodes()
	watched, stop := context.WithCancel(ctx)
	defer stop()
	var all errgroup.Group
	for _, n := range nodes {
		all.Go(func() error { return n.keep(watched) })
	}
	begun := time.Now()
	answers, err := t.load(ctx, nodes)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "%d documents of %d clients answered in %.1f s, with %d kills\n", t.total(), t.Clients, time.Since(begun).Seconds(), t.Kills)
	end, err := reached(ctx, t.Broker.Address(), nodes)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "%d records in the log\n", end)
	stop()
	if err := all.Wait(); err != nil {
		return err
	}
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
	fmt.Fprintf(t.Out, "%d ends of front ends and followers by themselves, while the broker was away\n", restarts)
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
		default:
			n.args = append([]string{"serve", "follow", "--topic", "documents"}, n.args...)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// load has the clients submit all texts while it kills nodes and the broker.
func (t *Trial) load(ctx context.Context, nodes []*node) (answers [][]answer, err error) {
	var at progress
	answers = make([][]answer, t.Clients)
	var all errgroup.Group
	for c := range t.Clients {
		all.Go(func() (err error) {
			answers[c], err = t.give(ctx, c, nodes[c%fronts], &at)
			return err
		})
	}
	all.Go(func() error { return t.kill(ctx, nodes, &at) })
	return answers, all.Wait()
}

// kill kills at equal distances of the progress: three nodes, then the broker, and so on. A rolling
// upgrade takes the followers first, and then the front ends.
func (t *Trial) kill(ctx context.Context, nodes []*node, at *progress) error {
	rnd, upgraded := rand.New(rand.NewPCG(1, 2)), 0
	for i := range t.Kills {
		for at.done.Load() < t.total()*int64(i+1)/int64(t.Kills+1) {
			if err := pause(ctx, 5*time.Millisecond); err != nil {
				return err
			}
		}
		if i%4 != 3 {
			n := nodes[rnd.IntN(len(nodes))]
			if t.Before != "" {
				n = nodes[len(nodes)-1-upgraded%len(nodes)]
				upgraded++
			}
			n.kill(t.Program)
			continue
		}
		if err := t.Broker.Kill(); err != nil {
			return err
		}
		for _, n := range nodes {
			if err := n.unready(ctx); err != nil {
				return err
			}
		}
		if err := t.Broker.Start(ctx); err != nil {
			return err
		}
	}
	return nil
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
