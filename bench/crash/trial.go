package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/firstseen/firstseen/index"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// A bench is shared by all trials.
type bench struct {
	program *Program
	root    string
}

// prepare makes the inputs and the starting point of each workload.
func prepare(ctx context.Context, p *Program, root string, all []*workload) (*bench, error) {
	b := &bench{program: p, root: root}
	in := filepath.Join(root, "in")
	if err := os.MkdirAll(in, 0o777); err != nil {
		return nil, err
	}
	if err := writeInputs(in); err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.before == nil {
			continue
		}
		dir := filepath.Join(root, w.name+"-before")
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		if code, stderr := p.run(ctx, dir, w.before.args...); code != w.before.code {
			return nil, fmt.Errorf("%s: what comes before ends with code %d: %s", w.name, code, stderr)
		}
	}
	return b, nil
}

// A reference is the undisturbed run of a workload.
type reference struct {
	*workload
	want  *outcome
	took  time.Duration // for all steps
	size  int64         // of the first output
	items uint64        // of the filter
}

func (b *bench) reference(ctx context.Context, w *workload) (*reference, error) {
	r := &reference{workload: w}
	dir := filepath.Join(b.root, w.name+"-whole")
	if err := w.setUp(b.root, dir); err != nil {
		return nil, err
	}
	start := time.Now()
	for _, s := range w.steps {
		if code, stderr := b.program.run(ctx, dir, s.args...); code != s.code {
			return nil, fmt.Errorf("%s: an undisturbed run ends with code %d, want %d: %s", w.name, code, s.code, stderr)
		}
	}
	r.took = time.Since(start)
	var err error
	if r.want, err = w.outcome(ctx, dir); err != nil {
		return nil, err
	}
	info, err := os.Stat(filepath.Join(dir, w.outputs[0]))
	if err != nil {
		return nil, err
	}
	r.size = info.Size()
	header, err := bloomstore.ReadHeader(filepath.Join(dir, indexDir, index.FilterFile))
	r.items = header.Items
	return r, err
}

// compare compares a finished trial with the reference, and runs once more.
func (b *bench) compare(ctx context.Context, r *reference, dir string) []string {
	got, err := r.outcome(ctx, dir)
	if err != nil {
		return []string{err.Error()}
	}
	found := got.differences(r.want)
	if r.linked {
		if info, err := os.Lstat(filepath.Join(dir, r.outputs[1])); err != nil || info.Mode()&os.ModeSymlink == 0 {
			found = append(found, "the link to the report is a link no more")
		}
	}
	code, stderr := b.program.run(ctx, dir, r.again()...)
	again, err := os.ReadFile(filepath.Join(dir, againFile))
	switch {
	case code != bad:
		found = append(found, fmt.Sprintf("run once more it ends with code %d: %s", code, stderr))
	case err != nil:
		found = append(found, err.Error())
	case len(again) > 0:
		found = append(found, fmt.Sprintf("run once more it keeps %d bytes", len(again)))
	}
	return found
}

// phase names the point at which a run was stopped, by the files it left. At "over" the run was
// complete, and the same command would be another run.
func (r *reference) phase(dir string) string {
	at := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	named, partial := 0, 0
	for _, name := range r.outputs {
		if at(name) {
			named++
		}
		if r.linked && name == r.outputs[1] && at("older/report.partial") || at(name+".partial") {
			partial++
		}
	}
	table := at(filepath.Join(indexDir, index.TableFile))
	switch {
	case !r.filterOnly && !table:
		return "before the index"
	case partial == 0 && !at(r.outputs[0]):
		return "before the outputs"
	case r.filterOnly && partial > 0:
		return "deciding"
	case r.filterOnly:
		h, err := bloomstore.ReadHeader(filepath.Join(dir, indexDir, index.FilterFile))
		if err != nil || h.Items != r.items {
			return "saving the filter"
		}
		return "over"
	}
	state, merging, err := runState(filepath.Join(dir, indexDir))
	switch {
	case err != nil:
		return "index refused"
	case state == "ended" && partial > 0 && partial < len(r.outputs):
		return "naming outputs"
	case state == "ended" && partial > 0:
		return "all decided"
	case state == "ended" && at(filepath.Join(indexDir, index.FilterFile+".tmp")):
		return "saving the filter"
	case state == "ended":
		return "before the last checkpoint"
	case state == "" && partial == 0 && named == len(r.outputs):
		return "over"
	case merging:
		return "in a merge"
	}
	return "deciding"
}

// runState returns the state of an index's unfinished run, "begun", "ended" or "" for none, and
// whether a merge is half done.
func runState(dir string) (state string, merging bool, err error) {
	t, err := docmap.Open(filepath.Join(dir, index.TableFile), docmap.Options{ReadOnly: true})
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	stored, err := t.State("run")
	if err != nil {
		return "", false, err
	}
	for _, r := range t.Runs() {
		merging = merging || r.Merging && r.Of == "keys"
	}
	if len(stored) == 0 {
		return "", merging, nil
	}
	var run struct{ Progress pipeline.Progress }
	if err := json.Unmarshal(stored, &run); err != nil {
		return "", merging, err
	}
	if run.Progress.Ended {
		return "ended", merging, nil
	}
	return "begun", merging, nil
}

// A ledger gathers the results of trials of one workload.
type ledger struct {
	mu          sync.Mutex
	trials      int
	events      map[string]int // phases and other counts
	arrived     int            // kills that ended a process, or faults that were met
	differences int
	out         io.Writer
	repeat      string // format of the command for one trial, with %s and %d for workload and number
}

func newLedger(out io.Writer, repeat string) *ledger {
	return &ledger{events: map[string]int{}, out: out, repeat: repeat}
}

func (l *ledger) count(event string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[event] += n
}

func (l *ledger) arrive(phase string) {
	l.count(phase, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrived++
}

// end records a trial and prints its differences at once.
func (l *ledger) end(name string, number int, history, differences []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trials++
	if len(differences) == 0 {
		return
	}
	l.differences++
	fmt.Fprintf(l.out, "DIFFERENCE in %s, trial %d (repeat with "+l.repeat+"):\n", name, number, name, number)
	for _, h := range history {
		fmt.Fprintf(l.out, "    %s\n", h)
	}
	for _, d := range differences {
		fmt.Fprintf(l.out, "  %s\n", strings.TrimSpace(d))
	}
}

// row formats the ledger as a line of a table.
func (l *ledger) row(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var events []string
	for e := range l.events {
		events = append(events, e)
	}
	sort.Slice(events, func(i, j int) bool { return l.events[events[i]] > l.events[events[j]] })
	for i, e := range events {
		events[i] = fmt.Sprintf("%s %d", e, l.events[e])
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %d |", name, l.trials, l.arrived, strings.Join(events, ", "), l.differences)
}
