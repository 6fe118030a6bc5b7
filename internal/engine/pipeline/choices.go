package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/fields"
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
	// Spans adds the places of the shared passages to the report.
	Spans   bool              `json:"spans,omitempty"`
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

// other returns the choices that differ between two commands. Inputs from number open on, which were not
// read to their end, may have another size and time: one that was cut off may be whole now.
func (c *choices) other(o *choices, open int) (other []Choice) {
	samePath := func(a, b inputID) bool { return a.Path == b.Path }
	switch {
	case !slices.EqualFunc(c.Inputs, o.Inputs, samePath):
		other = append(other, ChosenInputs)
	case !slices.Equal(c.Inputs[:min(open, len(c.Inputs))], o.Inputs[:min(open, len(o.Inputs))]):
		other = append(other, ChosenInputState)
	}
	if !slices.Equal(c.Outputs, o.Outputs) || c.Tree != o.Tree {
		other = append(other, ChosenOutputs)
	}
	ours, theirs := reflect.ValueOf(c.Choices), reflect.ValueOf(o.Choices)
	for field, own := range ours.Fields() {
		if !reflect.DeepEqual(own.Interface(), theirs.FieldByIndex(field.Index).Interface()) {
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

// Window is the time for which documents count; see docs/design.md, rule 12. Zero means for ever.
type Window struct {
	Seconds uint32 // 0 for an index without a window
	// Told means that documents carry their times; a document without one gets the latest.
	// Otherwise the time is that of arrival: now for a pipe, the start of the run for files.
	Told bool
}

// errWindow is returned because document times would be unknown without a window.
var errWindow = errors.New("the index has a window of time, and this run has none: give --format auto:time=FIELD if its documents have times")

// storedTime is the size in bytes of a document's stored time.
const storedTime = 6

func (j *Job) now() time.Time {
	if j.Now == nil {
		return time.Now()
	}
	return j.Now()
}

// arrival returns the clock that stamps documents. A run over files with a window of arrival times
// uses one time throughout, so that a continued run uses it again.
func (j *Job) arrival() func() time.Time {
	if j.Window.Seconds == 0 || j.Window.Told || j.Pipe {
		return j.Now
	}
	return func() time.Time { return time.Unix(j.began, 0) }
}

// latest returns the time after which a document's own time is not believed. Clocks differ, so that
// may be after its arrival. One document moves the window by the difference, which is therefore at
// most an eighth of the window. It is safe for concurrent use.
func (j *Job) latest() time.Time {
	arrival := time.Unix(j.began, 0)
	if j.Pipe {
		arrival = j.now()
	}
	return arrival.Add(min(24*time.Hour, time.Duration(j.Window.Seconds/8)*time.Second))
}

// appendTime appends the document's own time to its stored data, unless it is after latest.
func (j *Job) appendTime(added []byte, doc *corpus.Document) []byte {
	if doc.Time.IsZero() || doc.Time.After(j.latest()) {
		return added
	}
	return fields.AppendTime(added, doc.Time.Unix())
}
