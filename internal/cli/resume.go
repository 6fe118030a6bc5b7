package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/pipeline"
)

// runState is the name under which an index stores the run that is under way.
const runState = "run"

// unfinished is a run as its checkpoints store it: the command, so that only the
// same one continues it, and how far it came.
type unfinished struct {
	Command  []string          `json:"command"` // the INPUT arguments, for messages
	Choices  choices           `json:"choices"`
	Progress pipeline.Progress `json:"progress"`
	Pipe     bool              `json:"pipe"`  // cannot be continued: it read or wrote a pipe
	Gone     bool              `json:"gone"`  // it read a pipe and wrote nothing that is still here: no file
	Saved    int64             `json:"saved"` // time of the checkpoint, Unix seconds
	// Prints are corpus.Fingerprint of the inputs begun, 0 where unknown. Those
	// after them have not been looked at, so they may be any.
	Prints []uint64 `json:"prints"`

	foreign bool // by another version: nothing else is known of it
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

// goesOn reports whether the next run may go on, without being told, where this
// one was killed: its input cannot be read again, and nothing it wrote is left
// that could be the only copy of a document.
func (p *dedupPlan) goesOn() bool {
	isFile := func(name string) bool { return name != "" && !isDirect(name) }
	return p.readsPipe() && !slices.ContainsFunc([]string{p.out, p.report, p.rejects}, isFile)
}

// missing says what the index does not know of a run over a pipe that was killed.
func (u *unfinished) missing() string {
	documents := u.Progress.Tally.Documents
	if u.Progress.Ended {
		return fmt.Sprintf("the last run over a pipe was killed at its end; its %d documents are all remembered", documents)
	}
	return fmt.Sprintf("the last run over a pipe did not end in order: it is remembered up to document %d (checkpoint of %s); "+
		"what came later will be kept again", documents, time.Unix(u.Saved, 0).UTC().Format(time.RFC3339))
}

// isDirect reports whether an output is written as it comes and cannot be cut
// back: standard output, a pipe, a device that keeps anything.
func isDirect(name string) bool {
	if name == "" || name == corpus.Stdin {
		return name == corpus.Stdin
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() && !corpus.Swallows(name)
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

// storedRun returns the run that is unfinished on the index, nil when none is.
func storedRun(x *index.Index) (*unfinished, error) {
	stored, err := x.Value(runState)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	u := new(unfinished)
	if json.Unmarshal(stored, u) != nil {
		return &unfinished{foreign: true}, nil
	}
	if left := x.Left; left != nil {
		u.Progress.Tally.Documents, u.Saved = int64(left.Documents), left.Time
	}
	return u, nil
}

// continues returns an error unless this is the command of the unfinished run,
// its inputs are as they were and it can be continued.
func (p *dedupPlan) continues(u *unfinished) error {
	if u.foreign {
		return errors.New("a run of another version of firstseen was interrupted on this index: finish it with that version, " +
			"or add --abandon to leave it; what it has kept so far stays known")
	}
	command := strings.Join(u.Command, " ")
	if u.Pipe {
		return fmt.Errorf("a run over %s was interrupted on this index after %d documents, and cannot be continued because it read or wrote a pipe; "+
			"the documents it kept stay known, so what it wrote (files ending in %s) is the only copy; add --abandon to go on, which puts them aside",
			command, u.Progress.Tally.Documents, corpus.PartialSuffix)
	}
	if !p.resumable() || !reflect.DeepEqual(p.chosen, u.Choices) {
		return fmt.Errorf("a run over %s was interrupted on this index: run the same command again (inputs unchanged) to finish it, "+
			"or add --abandon to leave it; what it has kept so far stays known", command)
	}
	for i, in := range p.inputs[:min(len(u.Prints), len(p.inputs))] {
		print, err := corpus.Fingerprint(in.Path)
		if err != nil {
			return fmt.Errorf("looking at the inputs again: %w", err)
		}
		if u.Prints[i] != 0 && u.Prints[i] != print {
			return inputChanged(fmt.Errorf("%s: %w", in.Name, corpus.ErrChanged))
		}
	}
	return nil
}

// inputChanged adds what to do to an error about an input that is another one
// since the run was interrupted.
func inputChanged(err error) error {
	return fmt.Errorf("continuing the interrupted run: %w; put back what it read and run the same command again, or add --abandon to leave the run unfinished", err)
}

// giveUp leaves an unfinished run for good. What it wrote since its last
// checkpoint the index does not know and a run over the same files writes again,
// so that is cut off; of a pipe nothing could be had again.
func (p *dedupPlan) giveUp(u *unfinished, stderr io.Writer) error {
	if u.foreign {
		return nil
	}
	fmt.Fprintf(stderr, "firstseen: the interrupted run over %s is given up; what it kept up to its last checkpoint, %d documents, stays known\n",
		strings.Join(u.Command, " "), u.Progress.Tally.Kept)
	for i, name := range u.Choices.Outputs {
		if name == "" || u.Pipe {
			continue
		}
		there, err := corpus.CutPartial(name, u.Progress.Written[i])
		if err != nil {
			return err
		}
		if there {
			fmt.Fprintf(stderr, "firstseen: the only copy of what it wrote is %s\n", name+corpus.PartialSuffix)
		}
	}
	return nil
}

// outputGone adds what to do to an error about the files of an interrupted run.
func outputGone(err error) error {
	if errors.Is(err, corpus.ErrBusy) {
		return err
	}
	return fmt.Errorf("continuing the interrupted run: %w; put the file back, or add --abandon to leave the run unfinished; "+
		"a later run with the same output may have put it aside (%s.1)", err, corpus.PartialSuffix)
}

// saveProgress is what a checkpoint stores of the run.
func (p *dedupPlan) saveProgress(progress pipeline.Progress) map[string][]byte {
	u := unfinished{Command: p.args, Choices: p.chosen, Progress: progress, Pipe: !p.resumable(), Gone: p.goesOn(), Saved: p.now().Unix()}
	if !u.Pipe {
		for _, in := range p.inputs[len(p.prints) : progress.At.Input+1] {
			print, _ := corpus.Fingerprint(in.Path) // gone meanwhile: unknown
			p.prints = append(p.prints, print)
		}
		u.Prints = p.prints
	}
	stored, err := json.Marshal(u)
	if err != nil {
		panic(err) // plain values only
	}
	return map[string][]byte{runState: stored}
}

// done is the state of an index on which no run is unfinished.
func (p *dedupPlan) done() map[string][]byte { return map[string][]byte{runState: nil} }
