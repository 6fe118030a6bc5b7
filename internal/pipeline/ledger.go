package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
	"github.com/firstseen/firstseen/internal/step"
)

// LedgerName is the name under which an index stores the run under way.
const LedgerName = "run"

// Position is a place between two records.
type Position struct {
	Input int          `json:"input"` // index into the inputs
	At    corpus.Place `json:"line"`  // of the next record
	// Sum is output.AddRecord over all records of the input before it.
	Sum uint64 `json:"sum"`
}

// Written is how far each output was written: kept, report, rejects.
type Written [3]output.Mark

// Progress is how far a run has come. It is stored in the same transaction as the documents
// remembered so far.
type Progress struct {
	At      Position     `json:"at"`
	Tally   report.Tally `json:"tally"`
	Written Written      `json:"written"`
	// Tree is the progress of the outputs of each input, nil if there are none.
	Tree  *output.TreeMark `json:"tree,omitempty"`
	Began int64            `json:"began,omitempty"` // the run, Unix seconds; only with a window
	Ended bool             `json:"ended"`           // all is decided; outputs may not have their names yet
}

// Ledger is a run as its index knows it, from one process to the next. A run goes through
// four states. A process stopped in any of them, or between two, leaves everything that the
// next one needs to go on:
//
//	reading    Save stores how far the run has come
//	decided    Save stores that all is decided, and how long the outputs are
//	published  Publish gives the outputs their names
//	noted      Note stores that no run is unfinished, and that this one is over
//
// Without an index that outlasts the process it stores nothing and otherwise works as with one.
type Ledger struct {
	index  *index.Index
	job    *Job
	chosen choices     // of a run that can start over
	prints []uint64    // of the inputs begun, see Unfinished.Prints
	found  *Unfinished // the note of another run; nil for none
	goesOn *Progress
	last   *Progress // the last Progress stored by Save
}

// Unfinished is a run that was stopped before it was over, as its checkpoints store it: the command,
// so that only the same one continues it, and how far it came.
type Unfinished struct {
	Args     []string `json:"command"` // the INPUT arguments, for messages
	Choices  choices  `json:"choices"`
	Progress Progress `json:"progress"` // up to its last checkpoint
	Pipe     bool     `json:"pipe"`     // cannot be continued: it read or wrote a pipe
	// Gone: it read a pipe and wrote no file. So no file of that run can be the only copy of a
	// document, and another run may begin.
	Gone  bool  `json:"gone"`
	Saved int64 `json:"saved"` // time of the checkpoint, Unix seconds
	// Prints are input.Fingerprint of the inputs begun, 0 if unknown. The inputs after them have
	// not been looked at, so they may be any.
	Prints []uint64 `json:"prints"`

	Foreign bool `json:"-"` // by another version: nothing else is known
}

// Refusal is the reason why an unfinished run is not continued.
type Refusal uint8

const (
	OtherVersion Refusal = iota + 1 // of the program has begun it
	OverPipe                        // it read or wrote one
	OtherCommand                    // has begun it, or on other inputs
	InputChanged                    // since it was read; Err says which
	OutputGone                      // or is not as it was left; Err says which
	OnlyCopy                        // an output is that of an interrupted run over a pipe; Err says which
)

// RefusedError is returned if an unfinished run is not continued.
type RefusedError struct {
	Why Refusal
	Run Unfinished
	// Other lists the differing choices of the command, if Why is OtherCommand.
	Other []Choice
	Err   error // the error found, or nil
}

func (e *RefusedError) Error() string {
	if e.Err != nil {
		return "continuing the interrupted run: " + e.Err.Error()
	}
	return fmt.Sprintf("a run over %s was interrupted on this index", strings.Join(e.Run.Args, " "))
}

func (e *RefusedError) Unwrap() error { return e.Err }

// OpenLedger reads the index's notes of earlier runs. The job begins or goes on.
func OpenLedger(x *index.Index, job *Job) (*Ledger, error) {
	l := &Ledger{index: x, job: job}
	var err error
	if l.canStartOver() {
		if l.chosen, err = job.choices(); err != nil {
			return nil, err
		}
	}
	stored, err := x.Value(LedgerName)
	if err != nil || len(stored) == 0 {
		return l, err
	}
	l.found = new(Unfinished)
	if json.Unmarshal(stored, l.found) != nil {
		l.found = &Unfinished{Foreign: true}
	} else if left := x.Left(); left != nil {
		l.found.Progress.Tally.Documents, l.found.Saved = int64(left.Documents), left.Time
	}
	return l, nil
}

// Unfinished returns the run that another process has left; nil if there is none.
func (l *Ledger) Unfinished() *Unfinished { return l.found }

// CanContinue reports whether this run could be continued if it were stopped: the
// inputs can be read again, the outputs cut back, and the index knows how far it came.
func (l *Ledger) CanContinue() bool { return l.repeatable() && l.index.Table() != nil }

// Saved reports whether there is a checkpoint from which this run can be continued.
func (l *Ledger) Saved() bool { return l.last != nil }

// repeatable reports whether this very command can be given again.
func (l *Ledger) repeatable() bool { return l.canStartOver() && !l.job.writesPipe() }

// canStartOver reports whether this run simply runs again if nothing of it was remembered.
func (l *Ledger) canStartOver() bool { return !l.job.Temporary && !l.job.ReadsPipe() }

// Continue returns how far the unfinished run has come. It returns a RefusedError unless this is
// that run's command, its inputs are as they were and it can be continued.
func (l *Ledger) Continue() (*Progress, error) {
	e := l.found
	switch {
	case e.Foreign:
		return nil, &RefusedError{Why: OtherVersion, Run: *e}
	case e.Pipe:
		return nil, &RefusedError{Why: OverPipe, Run: *e}
	case !l.CanContinue():
		return nil, &RefusedError{Why: OtherCommand, Run: *e, Other: []Choice{ChosenPipe}}
	case !reflect.DeepEqual(l.chosen, e.Choices):
		return nil, &RefusedError{Why: OtherCommand, Run: *e, Other: l.chosen.other(&e.Choices)}
	}
	inputs := l.job.Inputs
	for i, in := range inputs[:min(len(e.Prints), len(inputs))] {
		print, err := input.Fingerprint(in)
		if err != nil {
			return nil, fmt.Errorf("looking at the inputs again: %w", err)
		}
		if e.Prints[i] != 0 && e.Prints[i] != print {
			return nil, &RefusedError{Why: InputChanged, Run: *e, Err: fmt.Errorf("%s: %w", in.Name, corpus.ErrChanged)}
		}
	}
	l.goesOn, l.prints = &e.Progress, e.Prints
	l.last = l.goesOn
	return l.goesOn, nil
}

// GiveUp abandons the unfinished run and returns the files that are the only copy of its output.
// The index does not know the output since the last checkpoint. A run over the same files writes
// that part again, so GiveUp cuts it off. Output from a pipe could not be made again.
func (l *Ledger) GiveUp() (left []string, err error) {
	e := l.found
	if e.Foreign || e.Pipe {
		return nil, nil
	}
	if tree := e.Progress.Tree; tree != nil {
		if left, err = output.CutTree(e.Choices.Dir, *tree); err != nil {
			return left, err
		}
	}
	for i, name := range e.Choices.Outputs {
		if name == "" {
			continue
		}
		there, err := output.CutPartial(name, e.Progress.Written[i])
		if err != nil {
			return left, err
		}
		if there {
			left = append(left, name+input.PartialSuffix)
		}
	}
	return left, nil
}

// Save returns the note that a checkpoint stores of the run, reading or decided; nil if no later
// run could use it.
func (l *Ledger) Save(p Progress) map[string][]byte {
	job := l.job
	l.last = &p
	if job.Temporary || l.index.Table() == nil && !job.ReadsPipe() {
		return nil
	}
	e := Unfinished{
		Args: job.Args, Progress: p,
		Pipe: !l.CanContinue(), Gone: job.leavesNothing(), Saved: job.now().Unix(),
	}
	if l.repeatable() {
		e.Choices = l.chosen
	}
	if !e.Pipe {
		for _, in := range job.Inputs[len(l.prints) : p.At.Input+1] {
			print, _ := input.Fingerprint(in) // gone meanwhile: unknown
			l.prints = append(l.prints, print)
		}
		e.Prints = l.prints
	}
	return map[string][]byte{LedgerName: encoded(e)}
}

func encoded(value any) []byte {
	stored, err := json.Marshal(value)
	if err != nil {
		panic(err) // plain values only
	}
	return stored
}

// Publish gives all outputs their names. That comes before Note: an index that knows
// documents which are in no output would have the next run drop them too.
func (l *Ledger) Publish(o *Outputs) error { return o.Close() }

// Note saves the index and stores that no run is unfinished, and that this one is over. A run is
// over when all is decided or, if it cannot be continued, when the filter is full; early is the
// error with which it then ended, nil for none.
func (l *Ledger) Note(early error) error {
	state := map[string][]byte{LedgerName: nil}
	runs, err := l.overNow(early)
	if err != nil {
		return err
	}
	if runs != nil {
		state[CompletedName] = runs
	}
	if err := l.index.Finish(state); err != nil {
		return err
	}
	return step.Done("ended")
}

// ErrUnfinished is returned by CheckCompleted for an index on which a run was interrupted.
var ErrUnfinished = errors.New("a run on it was interrupted: not all that it knows is in the outputs of that run yet; finish it first, by the same command")

// CheckCompleted refuses an index with unsettled documents, judging by the values stored in it. Such an
// index has an interrupted run that may be continued, or one whose outputs lack their names.
func CheckCompleted(value func(name string) ([]byte, error)) error {
	stored, err := value(LedgerName)
	if err != nil || len(stored) == 0 {
		return err
	}
	var e Unfinished
	if json.Unmarshal(stored, &e) == nil && e.Gone {
		return nil // the run will not go on
	}
	return ErrUnfinished
}

// CompletedName is the name under which an index stores the finished runs.
const CompletedName = "over"

// maxCompleted is how many finished runs an index stores, the last ones, and maxCompletedBytes is their
// length. An index without a table stores them in the stamp of its filter, of at most 64 KiB.
const (
	maxCompleted      = 64
	maxCompletedBytes = 40 << 10
)

type completedRun struct {
	Command string       `json:"command"` // a digest of its choices; "" for a run over a pipe that ended early
	Tally   report.Tally `json:"tally"`
	Full    bool         `json:"full,omitempty"` // it ended because the filter was full, and could not be continued
	Written Written      `json:"written"`
	// Tree has only the number of outputs and the sum over them all.
	Tree *output.TreeMark `json:"tree,omitempty"`
}

// Completed returns the tally of the run of this very command, and whether it ended because the filter
// was full. It returns nil unless that run is over and its outputs are as the run left them. Given
// once more, the command would find all its documents removed. It would then replace the outputs,
// perhaps the only copy of the kept documents, by empty ones.
func (l *Ledger) Completed() (tally *report.Tally, full bool, err error) {
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
			return &runs[i].Tally, runs[i].Full, nil
		}
	}
	return nil, false, err
}

// completedRuns returns the finished runs, the last at the end.
func (l *Ledger) completedRuns() (runs []completedRun, err error) {
	stored, err := l.index.Value(CompletedName)
	if err != nil || len(stored) == 0 || json.Unmarshal(stored, &runs) != nil {
		return nil, err // a later version may store it otherwise
	}
	return runs, nil
}

// published reports whether all outputs are as a run has left them.
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

// spare refuses to replace an output of a run over a pipe that ended early. The index knows its
// documents, so the same command would find them again and keep none.
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
	now := completedRun{Tally: l.last.Tally, Full: errors.Is(early, index.ErrFull), Written: l.last.Written}
	if !pipe {
		now.Command = l.chosen.digest()
	}
	for i, name := range l.job.names() {
		if pipe && isFile(name) {
			if now.Written[i], err = output.MarkOf(name); err != nil {
				return nil, err
			}
		}
	}
	if first := now.Tally.FirstBad; first != nil { // its bytes are not worth the room
		now.Tally.FirstBad = &report.Rejected{File: first.File, Line: first.Line, Reason: first.Reason}
	}
	if tree := l.last.Tree; tree != nil {
		now.Tree = &output.TreeMark{Begun: tree.Begun, Sum: tree.Sum}
	}
	runs = append(runs, now)
	stored := encoded(runs)
	for len(runs) > 1 && (len(runs) > maxCompleted || len(stored) > maxCompletedBytes) {
		// The oldest goes, one over files first: it can be run again.
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
	sum := sha256.Sum256(encoded(told))
	return hex.EncodeToString(sum[:16])
}
