package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
)

// runState is the name under which an index stores the run that is under way.
const runState = "run"

// unfinished is a run as its checkpoints store it: the command, so that only the
// same one continues it, and how far it came.
type unfinished struct {
	Command  []string       `json:"command"` // the INPUT arguments, for messages
	Choices  choices        `json:"choices"`
	Progress dedup.Progress `json:"progress"`
	Pipe     bool           `json:"pipe"` // cannot be continued: it read or wrote a pipe
}

// choices are all that decides what the outputs of a run will be, beside the
// index itself. The filter's size is not among them: a run that stopped because
// it was full goes on with a larger one.
type choices struct {
	Inputs    []inputID   `json:"inputs"`
	Outputs   []string    `json:"outputs"`
	Annotate  bool        `json:"annotate"`
	Rules     dedup.Rules `json:"rules"`
	TextField string      `json:"text_field"`
	IDField   string      `json:"id_field"`
	MaxRecord int         `json:"max_record"`
}

// inputID tells whether an input is still the same.
type inputID struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Time int64  `json:"mtime"` // ns since 1970
}

// resumable reports whether an interrupted run could be continued: the inputs
// can be read again and the outputs cut back.
func (p *dedupPlan) resumable() bool {
	if p.index == "" || p.filterOnly {
		return false
	}
	if p.readsPipe() {
		return false
	}
	return !slices.ContainsFunc([]string{p.out, p.report, p.rejects}, isDirect)
}

// readsPipe reports whether an input cannot be read a second time.
func (p *dedupPlan) readsPipe() bool {
	return slices.ContainsFunc(p.inputs, func(in corpus.Input) bool { return in.Size < 0 || in.Path == corpus.Stdin })
}

// isDirect reports whether an output is written as it comes: standard output, a
// pipe, a device.
func isDirect(name string) bool {
	if name == "" || name == corpus.Stdin {
		return name == corpus.Stdin
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

func (p *dedupPlan) choices() (choices, error) {
	c := choices{
		Annotate: p.annotate, Rules: p.rules, TextField: p.fields.Text, IDField: p.fields.ID,
		MaxRecord: p.source.MaxLine,
	}
	for _, in := range p.inputs {
		path, err := filepath.Abs(in.Path)
		if err != nil {
			return c, err
		}
		info, err := os.Stat(in.Path)
		if err != nil {
			return c, err
		}
		c.Inputs = append(c.Inputs, inputID{path, info.Size(), info.ModTime().UnixNano()})
	}
	for _, out := range []string{p.out, p.report, p.rejects} {
		if out != "" {
			abs, err := filepath.Abs(out)
			if err != nil {
				return c, err
			}
			out = abs
		}
		c.Outputs = append(c.Outputs, out)
	}
	return c, nil
}

// findUnfinished returns how far this very command came on the index, nil when
// none is unfinished, and an error when another is.
func (p *dedupPlan) findUnfinished(index *dedup.Index) (*dedup.Progress, error) {
	if index.Table == nil {
		return nil, nil
	}
	stored, err := index.Table.State(runState)
	if err != nil || len(stored) == 0 || p.abandon {
		return nil, err
	}
	var u unfinished
	if err := json.Unmarshal(stored, &u); err != nil {
		return nil, fmt.Errorf("reading the unfinished run of the index: %w", err)
	}
	if u.Pipe {
		return nil, fmt.Errorf("a run over %s was interrupted on this index after %d documents, and cannot be continued because it read or wrote a pipe; "+
			"the documents it kept stay known, so what it wrote (files ending in %s) is the only copy; add --abandon to go on",
			strings.Join(u.Command, " "), u.Progress.Tally.Documents, corpus.PartialSuffix)
	}
	if p.resumable() && reflect.DeepEqual(p.chosen, u.Choices) {
		return &u.Progress, nil
	}
	return nil, fmt.Errorf("a run over %s was interrupted on this index: run the same command again (inputs unchanged) to finish it, "+
		"or add --abandon to leave it; what it has kept so far stays known", strings.Join(u.Command, " "))
}

// published reports whether an output of a run that had decided everything has
// its name already: the run was stopped between naming its outputs and noting
// that it had.
func published(name string) bool {
	// Partial files lie where links lead.
	if path, err := filepath.EvalSymlinks(name); err == nil {
		name = path
	}
	_, err := os.Stat(name)
	_, partialErr := os.Stat(name + corpus.PartialSuffix)
	return err == nil && errors.Is(partialErr, os.ErrNotExist)
}

// outputGone adds what to do to an error about the files of an interrupted run.
func outputGone(err error) error {
	return fmt.Errorf("continuing the interrupted run: %w; put the file back, or add --abandon to leave the run unfinished", err)
}

// saveProgress is what a checkpoint stores of the run.
func (p *dedupPlan) saveProgress(progress dedup.Progress) map[string][]byte {
	stored, err := json.Marshal(unfinished{Command: p.args, Choices: p.chosen, Progress: progress, Pipe: !p.resumable()})
	if err != nil {
		panic(err) // plain values only
	}
	return map[string][]byte{runState: stored}
}

// done is the state of an index on which no run is unfinished.
func (p *dedupPlan) done() map[string][]byte { return map[string][]byte{runState: nil} }
