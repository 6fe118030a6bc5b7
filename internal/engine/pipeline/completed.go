package pipeline

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// ErrUnfinished is returned by CheckCompleted for an index with an interrupted run.
var ErrUnfinished = errors.New("a run on it was interrupted, and its outputs still lack documents that the index knows; finish that run first, with its own command")

// CheckCompleted refuses an index with unsettled documents, by the values stored in it. Such an
// index has an interrupted run that may be continued, or one whose outputs lack their names.
func CheckCompleted(value func(name string) ([]byte, error)) error {
	stored, err := value(LedgerName)
	if err != nil || len(stored) == 0 {
		return err
	}
	var e Unfinished
	if json.Unmarshal(stored, &e) == nil && e.Gone {
		return nil // it will not be continued
	}
	return ErrUnfinished
}

// CompletedName is the name under which an index stores the finished runs.
const CompletedName = "over"

// maxCompleted limits the finished runs that an index stores, and maxCompletedBytes their length.
// Without a table the stamp of the filter stores them, of at most 64 KiB.
const (
	maxCompleted      = 64
	maxCompletedBytes = 40 << 10
)

// Finished is a finished run, for messages.
type Finished struct {
	Tally report.Tally `json:"tally"`
	Over  string       `json:"over,omitempty"` // the INPUT arguments, shortened
	Ended int64        `json:"ended"`          // Unix seconds
}

type completedRun struct {
	Finished
	Command string  `json:"command"`          // digest of its choices; "" for a run over a pipe that ended early
	Inputs  string  `json:"inputs,omitempty"` // digest of its inputs
	Full    bool    `json:"full,omitempty"`   // a full filter ended it, and it could not be continued
	Written Written `json:"written"`
	// Tree has only the number of outputs and the sum over them all.
	Tree *output.TreeMark `json:"tree,omitempty"`
}

// maxOver is the most bytes of INPUT arguments that a finished run stores.
const maxOver = 200

// Completed returns the summary of a finished run of this very command, and whether a full filter
// ended it. It returns nil unless the outputs are as the run left them. Run again, the command
// would find all its documents removed. It would then replace the outputs, perhaps the only copy of
// the kept documents, with empty ones.
func (l *Ledger) Completed() (s *report.Summary, full bool, err error) {
	if l.found != nil || !l.repeatable() || !l.job.writesFile() {
		return nil, false, nil
	}
	runs, err := l.completedRuns()
	command := l.chosen.digest()
	for i := range slices.Backward(runs) {
		if runs[i].Command == command {
			if there, err := l.published(&runs[i]); err != nil || !there {
				return nil, false, err
			}
			return summaryOf(l.index, l.job, &runs[i].Tally), runs[i].Full, nil
		}
	}
	return nil, false, err
}

// Before returns the latest finished run over the same inputs that kept documents: this run removes
// what the index has of them, whatever its outputs and rules. It returns nil if none is known, and
// other, the latest run that kept documents of any inputs.
func (l *Ledger) Before() (same, other *Finished, err error) {
	runs, err := l.completedRuns()
	inputs := digest(l.chosen.Inputs)
	for i := range slices.Backward(runs) {
		run := &runs[i].Finished
		switch {
		case run.Tally.Kept == 0:
		case runs[i].Inputs == inputs && l.found == nil && l.canStartOver():
			return run, other, err
		default:
			other = cmp.Or(other, run)
		}
	}
	return nil, other, err
}

// completedRuns returns the finished runs, the latest last.
func (l *Ledger) completedRuns() (runs []completedRun, err error) {
	stored, err := l.index.Value(CompletedName)
	if err != nil || len(stored) == 0 || json.Unmarshal(stored, &runs) != nil {
		return nil, err // a later version may store them otherwise
	}
	return runs, nil
}

// published reports whether all outputs are as a run left them.
func (l *Ledger) published(run *completedRun) (bool, error) {
	for i, name := range l.job.names() {
		if name == "" {
			continue
		}
		if there, err := output.Published(name, run.Written[i]); err != nil || !there {
			return false, err
		}
	}
	if l.job.Tree == nil || run.Tree == nil {
		return l.job.Tree == nil, nil
	}
	return l.job.Tree.TreeIsAs(*run.Tree)
}

// spare refuses to replace an output of a run over a pipe that ended early. Its documents are in
// the index, so the same command would find them again and keep none.
func (l *Ledger) spare() error {
	runs, err := l.completedRuns()
	if err != nil {
		return err
	}
	for _, name := range l.job.names() {
		if !isFile(name) {
			continue
		}
		for i := range runs {
			if runs[i].Command != "" {
				continue
			}
			mark, err := output.MarkOf(name)
			if err != nil {
				return err
			}
			if mark.Size > 0 && slices.Contains(runs[i].Written[:], mark) {
				return &RefusedError{Why: OnlyCopy, Err: errors.New(name)}
			}
		}
	}
	return nil
}

// overNow returns the finished runs, including this one, for storing.
func (l *Ledger) overNow(early error) ([]byte, error) {
	runs, err := l.completedRuns()
	pipe := early != nil && !l.job.Temporary && l.job.ReadsPipe()
	if err != nil || l.last == nil || !pipe && (!l.last.Ended || !l.repeatable()) {
		return nil, err
	}
	now := completedRun{Finished: Finished{Tally: l.last.Tally}, Full: errors.Is(early, index.ErrFull), Written: l.last.Written}
	if !pipe {
		now.Command, now.Inputs = l.chosen.digest(), digest(l.chosen.Inputs)
	}
	now.Over, now.Ended = strings.Join(l.job.Args, " "), l.job.now().Unix()
	if len(now.Over) > maxOver {
		now.Over = strings.ToValidUTF8(now.Over[:maxOver], "") + " ..."
	}
	for i, name := range l.job.names() {
		if pipe && isFile(name) {
			if now.Written[i], err = output.MarkOf(name); err != nil {
				return nil, err
			}
		}
	}
	now.Tally.Lost = [len(now.Tally.Lost)]report.LostInput{}
	if first := now.Tally.FirstBad; first != nil { // its bytes are not worth the space, nor is Lost
		now.Tally.FirstBad = &report.Rejected{File: first.File, Line: first.Line, Reason: first.Reason}
	}
	if tree := l.last.Tree; tree != nil {
		now.Tree = &output.TreeMark{Begun: tree.Begun, Sum: tree.Sum}
	}
	runs = append(runs, now)
	stored := encoded(runs)
	for len(runs) > 1 && (len(runs) > maxCompleted || len(stored) > maxCompletedBytes) {
		// Drop the oldest, preferably one over files: it can be run again.
		oldest := max(slices.IndexFunc(runs[:len(runs)-1], func(r completedRun) bool { return r.Command != "" }), 0)
		runs = slices.Delete(runs, oldest, oldest+1)
		stored = encoded(runs)
	}
	return stored, nil
}

// digest identifies choices, except for the extras of the report. Asking for more of those is no
// reason to read everything again and find it removed.
func (c *choices) digest() string {
	told := *c
	told.Spans = false
	return digest(told)
}

func digest(value any) string {
	sum := sha256.Sum256(encoded(value))
	return hex.EncodeToString(sum[:16])
}
