package flip

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
)

// A Worker damages one file of a copy of an index in every way, and queries the index after each.
// It runs in a separate process, since a panic in another goroutine would end it, and notes its
// progress in a file.
type Worker struct {
	Whole string // folder of the whole index
	Dir   string // its copy, to damage
	File  string // name of the file
	From  int    // the first damage
	To    int    // one past the last damage
	Step  int    // interval between bits
	Note  string // file for the number of the current damage
}

// A Tally counts the results of damages of one kind.
type Tally struct {
	Done, Refused, Same, Wrong int
}

// A finding is a line printed by a worker: its tallies at the end, or a wrong answer.
type finding struct {
	Tallies []Tally `json:",omitempty"` // by kind
	Number  int     `json:",omitempty"`
	What    string  `json:",omitempty"`
}

// Run does the work and prints findings as JSON lines.
func (w *Worker) Run(out io.Writer) error {
	enc := json.NewEncoder(out)
	if err := w.restore(); err != nil {
		return err
	}
	a, err := newAsker(w.Dir)
	if err != nil {
		return err
	}
	asks, err := w.questions(a)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(w.Whole, w.File))
	if err != nil {
		return err
	}
	note, err := os.OpenFile(w.Note, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer note.Close()
	tallies := make([]Tally, len(kindNames))
	list := damages(len(data))
	var damaged []byte
	for n := w.From; n < min(w.To, len(list)); n++ {
		if list[n].kind == bit && n%max(w.Step, 1) != 0 {
			continue
		}
		if _, err := note.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(n)), 0); err != nil {
			return err
		}
		if damaged = list[n].apply(damaged, data); damaged == nil {
			continue
		}
		t := &tallies[list[n].kind]
		for _, ask := range asks {
			what, err := w.try(ask, list[n], n, damaged, data, t)
			if err != nil {
				return err
			}
			if what != "" {
				if err := enc.Encode(finding{Number: n, What: what}); err != nil {
					return err
				}
			}
		}
	}
	return enc.Encode(finding{Tallies: tallies})
}

// A question queries the index in one way.
type question struct {
	name    string
	ask     func() (uint64, error)
	want    uint64
	changes bool // may change files other than the damaged one
	rarely  bool // asked for only one in seldom flipped bits
}

// seldom thins out the costliest questions.
const seldom = 16

// questions returns the questions that read the file. A query alone does not load the filter beside
// a table.
func (w *Worker) questions(a *asker) ([]question, error) {
	read := question{name: "query", ask: a.read}
	write := question{name: "run", ask: a.write, changes: true, rarely: w.File != "filter.bloom"}
	list := []question{read, write}
	if w.File == "filter.bloom" && exists(filepath.Join(w.Whole, "table.db")) {
		list = list[1:]
	}
	for i := range list {
		var err error
		if list[i].want, err = list[i].ask(); err != nil {
			return nil, fmt.Errorf("the whole index: %w", err)
		}
	}
	return list, nil
}

// try asks once and describes a wrong answer.
func (w *Worker) try(q question, d damage, n int, damaged, data []byte, t *Tally) (what string, err error) {
	if q.rarely && d.kind == bit && n%seldom != 0 {
		return "", nil
	}
	path := filepath.Join(w.Dir, w.File)
	if err := overwrite(path, d, damaged, data); err != nil {
		return "", err
	}
	got, failure := protect(q.ask)
	t.Done++
	switch _, panicked := failure.(panicError); {
	case panicked:
		t.Wrong++
		what = fmt.Sprintf("%s, %v: %v", q.name, d, failure)
	case failure != nil:
		t.Refused++
	case got == q.want:
		t.Same++
	default:
		t.Wrong++
		what = fmt.Sprintf("%s, %v: other answers, and no word", q.name, d)
	}
	if q.changes {
		return what, w.restore()
	}
	return what, overwrite(path, d, data, data)
}

// String describes the change, for messages.
func (d damage) String() string {
	switch d.kind {
	case bit:
		return fmt.Sprintf("bit %d of byte %d flipped", d.b, d.a)
	case truncate:
		return fmt.Sprintf("cut to %d bytes", d.a)
	case zero:
		return fmt.Sprintf("%d bytes from %d zeroed", d.b, d.a)
	}
	return fmt.Sprintf("pages %d and %d swapped", d.a, d.b)
}

// overwrite turns one state of a file into another. For a single bit, it writes one byte.
func overwrite(path string, d damage, to, whole []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if d.kind == bit {
		_, err = f.WriteAt(to[d.a:d.a+1], int64(d.a))
		return err
	}
	if _, err := f.WriteAt(to, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(to)))
}

// restore renews the copy.
func (w *Worker) restore() error {
	if err := os.RemoveAll(w.Dir); err != nil {
		return err
	}
	return os.CopyFS(w.Dir, os.DirFS(w.Whole))
}

type panicError struct{ error }

// protect turns a panic into a panicError.
func protect(ask func() (uint64, error)) (sum uint64, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = panicError{fmt.Errorf("panic: %v", r)}
		}
	}()
	return ask()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
