package index

import (
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
	if x.table == nil || !x.table.Owes() {
		return false, nil
	}
	begun := time.Now()
	defer func() { x.saving += time.Since(begun) }()
	return x.table.Step()
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
