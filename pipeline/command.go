package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
)

// Command is the request that a run carries out, as far as its ledger stores and compares it.
type Command struct {
	Args    []string // the INPUT arguments, for messages
	Inputs  []input.Input
	Outputs [3]string // kept, report, rejects; "" for none
	// Tree is the plan of the outputs if each input has its own; nil if none has.
	Tree     *output.TreePlan
	Annotate bool
	Others   bool // Outputs.Others
	Spans    bool // Outputs.Spans
	// Enclosure is how the kept records are written to one file; nil: one after the other.
	Enclosure output.Enclosure
	// Head precedes the kept records in one file. If nil, nothing does, or the beginning of the
	// first input if that is a pipe.
	Head []byte
	// Report is the same of the report.
	Report output.Enclosure
	Rules  dedup.Rules
	// Format names the format of the inputs with its settings, such as the path to its texts.
	Format    string
	MaxRecord int               // bytes
	Against   []index.AgainstID // further indexes, whose documents count as earlier
	// Lasting: the index outlasts the process.
	Lasting bool
	Now     func() time.Time
	// Batch names the batch of the kept documents, "" for none; ReplaceSameID is that of
	// [index.Policy].
	Batch         string
	ReplaceSameID bool
	Window        Window
}

// choices hold everything that decides the outputs of a run, beside the index itself. The filter's
// size is not among them: a run stopped by a full filter goes on with a larger one.
type choices struct {
	Inputs    []inputID   `json:"inputs"`
	Outputs   []string    `json:"outputs"`
	Dir       string      `json:"dir,omitempty"`  // of a tree, absolute
	Tree      string      `json:"tree,omitempty"` // its plan's digest
	Annotate  bool        `json:"annotate"`
	Rules     dedup.Rules `json:"rules"`
	Format    string      `json:"format"`
	MaxRecord int         `json:"max_record"`
	Batch     string      `json:"batch,omitempty"`
	Replace   bool        `json:"replace,omitempty"`
	// These are omitted if empty, so that the command equals that of earlier versions.
	Others  bool              `json:"others,omitempty"`
	Spans   bool              `json:"spans,omitempty"`
	Against []index.AgainstID `json:"against,omitempty"`
	Window  *Window           `json:"window,omitempty"`
}

// inputID shows whether an input is still the same.
type inputID struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Time int64  `json:"mtime"` // ns since 1970
}

func (c *Command) choices() (choices, error) {
	chosen := choices{
		Annotate: c.Annotate, Rules: c.Rules, Format: c.Format, MaxRecord: c.MaxRecord,
		Batch: c.Batch, Replace: c.ReplaceSameID,
		Against: c.Against, Others: c.Others, Spans: c.Spans,
	}
	if c.Window != (Window{}) {
		chosen.Window = &c.Window
	}
	for _, in := range c.Inputs {
		path, err := filepath.Abs(in.Path)
		if err != nil {
			return chosen, err
		}
		info, err := os.Stat(in.File())
		if err != nil {
			return chosen, err
		}
		chosen.Inputs = append(chosen.Inputs, inputID{path, info.Size(), info.ModTime().UnixNano()})
	}
	for _, out := range c.Outputs {
		if out != "" {
			abs, err := filepath.Abs(out)
			if err != nil {
				return chosen, err
			}
			out = abs
		}
		chosen.Outputs = append(chosen.Outputs, out)
	}
	return chosen, chosen.addTree(c.Tree)
}

func (c *choices) addTree(p *output.TreePlan) (err error) {
	if p == nil {
		return nil
	}
	if c.Dir, err = filepath.Abs(p.Dir); err == nil {
		c.Tree, err = p.Digest()
	}
	return err
}

// Choice is one of the things that decide the outputs of a run.
type Choice uint8

const (
	ChosenInputs     Choice = iota + 1 // which, and in which order
	ChosenInputState                   // their sizes and times
	ChosenOutputs                      // which
	ChosenPipe                         // an input or output that is a pipe
	ChosenAnnotate
	ChosenRules
	ChosenFormat
	ChosenMaxRecord
	ChosenBatch
	ChosenSameID
	ChosenAgainst // further indexes, or their contents
	ChosenOthers  // which records are written
	ChosenSpans
	ChosenWindow
)

// other returns the choices in which two commands differ.
func (c *choices) other(o choices) (other []Choice) {
	samePath := func(a, b inputID) bool { return a.Path == b.Path }
	for _, d := range []struct {
		choice Choice
		differ bool
	}{
		{ChosenInputs, !slices.EqualFunc(c.Inputs, o.Inputs, samePath)},
		{ChosenInputState, slices.EqualFunc(c.Inputs, o.Inputs, samePath) && !slices.Equal(c.Inputs, o.Inputs)},
		{ChosenOutputs, !slices.Equal(c.Outputs, o.Outputs) || c.Tree != o.Tree},
		{ChosenAnnotate, c.Annotate != o.Annotate},
		{ChosenRules, c.Rules != o.Rules},
		{ChosenFormat, c.Format != o.Format},
		{ChosenMaxRecord, c.MaxRecord != o.MaxRecord},
		{ChosenBatch, c.Batch != o.Batch},
		{ChosenSameID, c.Replace != o.Replace},
		{ChosenAgainst, !slices.Equal(c.Against, o.Against)},
		{ChosenOthers, c.Others != o.Others},
		{ChosenSpans, c.Spans != o.Spans},
		{ChosenWindow, c.window() != o.window()},
	} {
		if d.differ {
			other = append(other, d.choice)
		}
	}
	return other
}

func (c *choices) window() Window {
	if c.Window == nil {
		return Window{}
	}
	return *c.Window
}

// ReadsPipe reports whether an input cannot be read a second time.
func (c *Command) ReadsPipe() bool {
	return slices.ContainsFunc(c.Inputs, func(in input.Input) bool { return in.Size < 0 || in.Path == input.Stdin })
}

func (c *Command) writesPipe() bool { return slices.ContainsFunc(c.Outputs[:], isDirect) }

// leavesNothing reports whether the next run may go on from the kill without being asked to. It may
// if the input cannot be read again and no file left by the run could be the only copy of a
// document.
func (c *Command) leavesNothing() bool {
	isFile := func(name string) bool { return name != "" && !isDirect(name) }
	return c.ReadsPipe() && !slices.ContainsFunc(c.Outputs[:], isFile)
}

// isDirect reports whether an output is written as it comes and cannot be cut
// back: standard output, a pipe, a device that keeps anything.
func isDirect(name string) bool {
	if name == "" || name == input.Stdin {
		return name == input.Stdin
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() && !output.Swallows(name)
}
