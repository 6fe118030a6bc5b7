package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrServed is returned for an index with journals of a server. Its documents after the last
// checkpoint are in these alone.
var ErrServed = errors.New("a server has the index, or was killed")

// ServedName returns the name of a journal of a server, by its generation.
func ServedName(generation uint64) string { return fmt.Sprintf("served.%d.log", generation) }

// ServedLogs returns the generations of the journals of a server in dir, ascending.
func ServedLogs(dir string) (generations []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		number, _ := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".log"), "served.")
		if n, bad := strconv.ParseUint(number, 10, 64); bad == nil && e.Name() == ServedName(n) {
			generations = append(generations, n)
		}
	}
	slices.Sort(generations)
	return generations, err
}

// A server's run of keys is written in one transaction, between two answers; so are the keys since the
// last checkpoint.
const (
	servedMemtable = 120_000
	servedPending  = 20_000
)

// stepwise reports whether somebody waits for answers while checkpoints are taken.
func (o *Options) stepwise() bool { return o.Serve || o.Follow }

func (o *Options) memtableKeys() int {
	if o.stepwise() && o.MemtableKeys == 0 {
		return servedMemtable
	}
	return o.MemtableKeys
}

func (o *Options) pendingKeys() int {
	if o.stepwise() && o.MemtableKeys == 0 {
		return servedPending
	}
	return 0
}

// Step does a piece of the work that checkpoints have left, in some milliseconds, and reports whether
// there is more.
func (x *Index) Step() (more bool, err error) {
	if x.table == nil {
		return false, nil
	}
	begun := time.Now()
	defer func() { x.saving += time.Since(begun) }()
	return x.table.Step()
}

// ServedValue is the owner's value of an index that says which journals it has. docs/format.md, "A
// server's journal", has the fields.
const ServedValue = "served"

// complete refuses an index whose server was killed and whose journals are gone, as in a copy of some of
// its files: answered documents would be kept again.
func (x *Index) complete() error {
	value, err := x.Value(ServedValue)
	if err != nil || value == nil {
		return err
	}
	var at struct {
		Next  uint64 `json:"next"`
		Ended bool   `json:"ended"`
	}
	if err := json.Unmarshal(value, &at); err != nil {
		return fmt.Errorf("index %s: the value %s: %w", x.dir, ServedValue, err)
	}
	if at.Ended {
		return nil
	}
	return fmt.Errorf("index %s: %w, and %s is missing, which has answered documents; put it back from where the table was copied, or go on without them by firstseen index abandon %s",
		x.dir, ErrServed, ServedName(at.Next), x.dir)
}

// ForgetServer gives up what only a server's lost journals had. It reports false if none is missing.
func (x *Index) ForgetServer() (bool, error) {
	if err := x.complete(); !errors.Is(err, ErrServed) {
		return false, err
	}
	have, err := ServedLogs(x.dir)
	if err != nil || len(have) > 0 {
		return false, err
	}
	if err := x.Begin(Policy{}); err != nil {
		return false, err
	}
	return true, x.Finish(map[string][]byte{ServedValue: nil})
}

// unserved refuses an index with journals of a server: without them, documents that it has answered
// would be unknown.
func (p *presence) unserved(dir string) error {
	if p.served == 0 {
		return nil
	}
	return fmt.Errorf("index %s: %w, and %s holds documents that the index does not have yet; ask the server, or run firstseen serve --index %s and stop it: that moves them into the index",
		dir, ErrServed, filepath.Join(dir, ServedName(p.served)), dir)
}
