package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
)

// Choices decide the outputs of a run, together with its inputs, output names and index. The ledger
// stores them as JSON, and only a command with the same choices continues the run. JSON must omit a
// new choice unless it is made: commands of earlier versions then stay equal. The filter's size is
// no choice: a run stopped by a full filter continues with a larger one.
type Choices struct {
	Annotate bool        `json:"annotate"` // add the verdict to every record of Out
	Rules    dedup.Rules `json:"rules"`
	// Format names the format of the inputs and its settings, such as the path to the texts.
	Format    string `json:"format"`
	MaxRecord int    `json:"max_record"`      // bytes
	Batch     string `json:"batch,omitempty"` // of the kept documents
	// ReplaceSameID: see [index.Policy].
	ReplaceSameID bool `json:"replace,omitempty"`
	ReportChoices
	Against []index.AgainstID `json:"against,omitempty"` // their documents count as earlier
	Window  Window            `json:"window,omitzero"`
}

// choices is a command as the ledger stores it.
type choices struct {
	Inputs  []inputID          `json:"inputs"`
	Outputs []input.StoredName `json:"outputs"`
	Dir     input.StoredName   `json:"dir,omitempty"`  // of a tree, absolute
	Tree    input.StoredName   `json:"tree,omitempty"` // digest of its plan, which begins with Dir
	Choices
}

// inputID shows whether an input is unchanged.
type inputID struct {
	Path input.StoredName `json:"path"`
	Size int64            `json:"size"`
	Time int64            `json:"mtime"` // ns since 1970
}

func (j *Job) choices() (choices, error) {
	chosen := choices{Choices: j.Choices}
	var failed error
	abs := func(name string) input.StoredName {
		if name == "" {
			return ""
		}
		path, err := filepath.Abs(name)
		failed = errors.Join(failed, err)
		return input.StoredName(path)
	}
	for _, in := range j.Inputs {
		path := abs(in.Path)
		info, err := os.Stat(in.File())
		if err != nil {
			return chosen, err
		}
		chosen.Inputs = append(chosen.Inputs, inputID{path, info.Size(), info.ModTime().UnixNano()})
	}
	for _, out := range j.names() {
		chosen.Outputs = append(chosen.Outputs, abs(out))
	}
	if j.Tree == nil {
		return chosen, failed
	}
	chosen.Dir = abs(j.Tree.Dir)
	digest, err := j.Tree.Digest()
	chosen.Tree = input.StoredName(digest)
	return chosen, errors.Join(failed, err)
}

// Choice is one of these, or the JSON name of a field of Choices. It decides the outputs of a run.
type Choice string

const (
	ChosenInputs     Choice = "inputs"  // the inputs and their order
	ChosenInputState Choice = "mtime"   // their sizes and times
	ChosenOutputs    Choice = "outputs" // the outputs
	ChosenPipe       Choice = "pipe"    // an input or output that is a pipe
)

// other returns the choices that differ between two commands.
func (c *choices) other(o *choices) (other []Choice) {
	samePath := func(a, b inputID) bool { return a.Path == b.Path }
	switch {
	case !slices.EqualFunc(c.Inputs, o.Inputs, samePath):
		other = append(other, ChosenInputs)
	case !slices.Equal(c.Inputs, o.Inputs):
		other = append(other, ChosenInputState)
	}
	if !slices.Equal(c.Outputs, o.Outputs) || c.Tree != o.Tree {
		other = append(other, ChosenOutputs)
	}
	ours, theirs := reflect.ValueOf(c.Choices), reflect.ValueOf(o.Choices)
	for _, field := range reflect.VisibleFields(ours.Type()) {
		if !field.Anonymous && !reflect.DeepEqual(ours.FieldByIndex(field.Index).Interface(), theirs.FieldByIndex(field.Index).Interface()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			other = append(other, Choice(name))
		}
	}
	return other
}

// names returns the names of the outputs: kept, report, rejects; "" for none.
func (j *Job) names() []string { return []string{j.Out, j.Report, j.Rejects} }

// ReadsPipe reports whether an input cannot be read a second time.
func (j *Job) ReadsPipe() bool {
	return slices.ContainsFunc(j.Inputs, func(in input.Input) bool { return in.Size < 0 || in.Path == input.Stdin })
}

func (j *Job) writesPipe() bool { return slices.ContainsFunc(j.names(), isDirect) }

// writesFile reports whether the run would replace a file.
func (j *Job) writesFile() bool {
	return j.Tree != nil || slices.ContainsFunc(j.names(), func(name string) bool { return isFile(name) && !output.Swallows(name) })
}

// leavesNothing reports whether another run may simply begin after a kill. The input then cannot be
// read again, and no file left behind can be the only copy of a document.
func (j *Job) leavesNothing() bool {
	return j.ReadsPipe() && !slices.ContainsFunc(j.names(), isFile)
}

func isFile(name string) bool { return name != "" && !isDirect(name) }

// isDirect reports whether an output is written immediately and cannot be cut back: standard
// output, a pipe, or a device that keeps data.
func isDirect(name string) bool {
	if name == "" || name == input.Stdin {
		return name == input.Stdin
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() && !output.Swallows(name)
}
