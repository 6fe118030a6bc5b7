package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// LedgerName is the name under which an index stores the run under way.
const LedgerName = "run"

// Position is a place between two records.
type Position struct {
	Input int          `json:"input"` // index into the inputs
	At    corpus.Place `json:"line"`  // of the next record
	// Sum is output.AddRecord over all earlier records of the input.
	Sum uint64 `json:"sum"`
}

// Written marks how far each output was written: kept, report, rejects.
type Written [3]output.Mark

// Progress is the state of a run, stored in one transaction with the documents remembered so far.
type Progress struct {
	At      Position     `json:"at"`
	Tally   report.Tally `json:"tally"`
	Written Written      `json:"written"`
	// Tree is the progress of the outputs of each input, nil if there are none.
	Tree  *output.TreeMark `json:"tree,omitempty"`
	Began int64            `json:"began,omitempty"` // start of the run, Unix seconds; only with a window
	Ended bool             `json:"ended"`           // all is decided; outputs may lack their names
}

// Ledger is a run as its index records it, across processes. A run goes through four states. A
// process stopped in or between them leaves everything that the next one needs to continue:
//
//	reading    Save stores how far the run has come
//	decided    Save stores that all is decided, and how long the outputs are
//	published  Outputs.Close gives the outputs their names
//	noted      Note stores that no run is unfinished, and that this one is over
//
// Without an index that outlasts the process it stores nothing, and otherwise works the same.
type Ledger struct {
	index  *index.Index
	job    *Job
	chosen choices     // of a run that can start over
	prints []uint64    // of the inputs begun, see Unfinished.Prints
	found  *Unfinished // the note of another run; nil for none
	goesOn *Progress
	last   *Progress // the last Progress stored by Save
}

// Unfinished is an interrupted run as its checkpoints store it: its progress, and its command,
// because only the same command continues it.
type Unfinished struct {
	Args     []string `json:"command"` // the INPUT arguments, for messages
	Choices  choices  `json:"choices"`
	Version  int      `json:"version"`  // dedup.RulesVersion
	Progress Progress `json:"progress"` // up to its last checkpoint
	Pipe     bool     `json:"pipe"`     // cannot be continued: it read or wrote a pipe
	// Gone marks a run that read a pipe and wrote no file. No file can then be the only copy of a
	// document, so another run may begin.
	Gone  bool  `json:"gone"`
	Saved int64 `json:"saved"` // time of the checkpoint, Unix seconds
	// Prints are input.Fingerprint of the inputs begun, 0 if unknown. Unread ones may be any.
	Prints []uint64 `json:"prints"`

	Foreign bool `json:"-"` // stored by another version: nothing else is known
}

// Refusal is the reason why an unfinished run is not continued.
type Refusal uint8

const (
	OtherVersion Refusal = iota + 1 // another version of the program began it
	OverPipe                        // it read or wrote a pipe
	OtherCommand                    // another command began it, or it read other inputs
	InputChanged                    // an input changed since it was read; Err names it
	OutputGone                      // an output is gone or changed; Err names it
	OnlyCopy                        // an output is of an interrupted run over a pipe; Err names it
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

// OpenLedger reads the index's notes of earlier runs, for a job that begins or continues.
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
		l.found.Progress.Tally.Documents, l.found.Saved = int64(left.Documents), cmp.Or(left.Time, l.found.Saved)
	}
	return l, nil
}

// Unfinished returns the run that another process left, or nil.
func (l *Ledger) Unfinished() *Unfinished { return l.found }

// CanContinue reports whether this run could be continued if it were stopped. The inputs can then
// be read again, the outputs cut back, and the index stores the progress.
func (l *Ledger) CanContinue() bool { return l.repeatable() && l.index.Table() != nil }

// Saved reports whether there is a checkpoint from which this run can be continued.
func (l *Ledger) Saved() bool { return l.last != nil }

// repeatable reports whether this very command can be run again.
func (l *Ledger) repeatable() bool { return l.canStartOver() && !l.job.writesPipe() }

// canStartOver reports whether this run can begin again if nothing of it was remembered.
func (l *Ledger) canStartOver() bool { return !l.job.Temporary && !l.job.ReadsPipe() }

// Continue returns the progress of the unfinished run. It returns a RefusedError unless this is the
// same command, its inputs are unchanged and the run can be continued.
func (l *Ledger) Continue() (*Progress, error) {
	e := l.found
	open := e.Progress.At.Input
	if e.Progress.Ended {
		open = len(e.Choices.Inputs) // what has come since would never be read
	}
	switch {
	case e.Foreign:
		return nil, &RefusedError{Why: OtherVersion, Run: *e}
	case e.Pipe:
		return nil, &RefusedError{Why: OverPipe, Run: *e}
	case e.Version != dedup.RulesVersion: // no undisturbed run would have these outputs
		return nil, &RefusedError{Why: OtherVersion, Run: *e}
	case !l.CanContinue():
		return nil, &RefusedError{Why: OtherCommand, Run: *e, Other: []Choice{ChosenPipe}}
	case len(l.chosen.other(&e.Choices, open)) > 0:
		return nil, &RefusedError{Why: OtherCommand, Run: *e, Other: l.chosen.other(&e.Choices, open)}
	}
	l.prints = e.Prints
	for i, in := range l.job.Inputs[:len(e.Prints)] {
		if l.chosen.Inputs[i] != e.Choices.Inputs[i] {
			l.prints = e.Prints[:i] // of the last one begun: the records read of it are compared
			break
		}
		print, err := input.Fingerprint(in)
		if err != nil {
			return nil, fmt.Errorf("looking at the inputs again: %w", err)
		}
		if e.Prints[i] != 0 && e.Prints[i] != print {
			return nil, &RefusedError{Why: InputChanged, Run: *e, Err: fmt.Errorf("%s: %w", in.Name, corpus.ErrChanged)}
		}
	}
	l.goesOn, l.last = &e.Progress, &e.Progress
	return l.goesOn, nil
}

// GiveUp abandons the unfinished run and returns the files that are the only copy of its output. It
// cuts off the output since the last checkpoint, which is not in the index: a run over the same
// files writes it again. Output from a pipe stays, because it could not be made again.
func (l *Ledger) GiveUp() (left []string, err error) {
	e := l.found
	if e.Foreign || e.Pipe {
		return nil, nil
	}
	if tree := e.Progress.Tree; tree != nil {
		if left, err = output.CutTree(string(e.Choices.Dir), *tree); err != nil {
			return left, err
		}
	}
	for i, stored := range e.Choices.Outputs {
		name := string(stored)
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

// Save returns the note of the run that a checkpoint stores, reading or decided. It returns nil if
// no later run could use it.
func (l *Ledger) Save(p Progress) map[string][]byte {
	job := l.job
	l.last = &p
	if job.Temporary || l.index.Table() == nil && !job.ReadsPipe() {
		return nil
	}
	e := Unfinished{
		Args: job.Args, Progress: p, Version: dedup.RulesVersion,
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

// Note saves the index and stores this run as over, and none as unfinished. The outputs must have
// their names: if the index had documents that are in no output, the next run would drop them too.
// It is over when all is decided or, if it cannot be continued, the filter is full. early is the
// error then, or nil.
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
