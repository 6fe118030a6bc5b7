package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/bench/eval"
)

// Removals is a rule applied by another program: peers.py writes one line per removal, with the IDs
// of the document and its witness.
type Removals struct {
	name    string
	witness map[string]string // by the id of the removed document
	numbers map[string]int
	next    int
}

// ReadRemovals reads the removals of one set.
func ReadRemovals(path string) (*Removals, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Removals{name: filepath.Base(path), witness: map[string]string{}, numbers: map[string]int{}}
	for line := range strings.Lines(string(text)) {
		id, witness, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			return nil, fmt.Errorf("%s: no tab in %q", path, line)
		}
		r.witness[id] = witness
	}
	return r, nil
}

// Name returns the name of the file.
func (r *Removals) Name() string { return r.name }

// Decide looks up the document.
func (r *Removals) Decide(doc eval.Doc) (witness int, removed bool, err error) {
	r.numbers[doc.ID] = r.next
	r.next++
	id, removed := r.witness[doc.ID]
	if !removed {
		return 0, false, nil
	}
	witness, ok := r.numbers[id]
	if !ok {
		return 0, false, fmt.Errorf("%s: %s is removed for %s, which is no earlier document", r.name, doc.ID, id)
	}
	return witness, true, nil
}

// Size returns 0, since the size is unknown.
func (r *Removals) Size() int64 { return 0 }
