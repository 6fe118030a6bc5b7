package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/journal"
)

// ErrServed is returned for an index with journals of a server. Only they hold the documents after
// the last checkpoint.
var ErrServed = errors.New("a server is using the index, or was killed")

const servedPrefix = "served"

// ServedName returns the name of a server's journal by its generation.
func ServedName(generation uint64) string { return journal.Name(servedPrefix, generation) }

// ServedLogs returns the generations of a server's journals in dir, ascending.
func ServedLogs(dir string) ([]uint64, error) { return journal.Generations(dir, servedPrefix) }

// A server writes a run, or the keys pending since a checkpoint, in one transaction between two
// answers. So both are small.
const (
	servedMemtable = 120_000
	servedPending  = 20_000
)

func (o *Options) table(scheme string) docmap.Options {
	t := docmap.Options{
		Scheme: scheme, MemtableKeys: o.MemtableKeys, UUID: o.UUID, Temporary: o.Temporary,
		Stepwise: o.Serve || o.Follow, // a client waits for answers while checkpoints are taken
	}
	if t.Stepwise && o.MemtableKeys == 0 {
		t.MemtableKeys, t.PendingKeys = servedMemtable, servedPending
	}
	return t
}

// Step does some milliseconds of the work that checkpoints left, and reports whether more is left.
func (x *Index) Step() (more bool, err error) {
	if x.table == nil || !x.table.Owes() {
		return false, nil
	}
	begun := time.Now()
	defer func() { x.saving += time.Since(begun) }()
	return x.table.Step()
}

// ServedValue names the owner's value that records which journals the index includes;
// docs/format.md, "A server's journal".
const ServedValue = "served"

// complete refuses an index whose server was killed and whose journals are missing, as in a partial
// copy: answered documents would be kept again.
func complete(dir string, valueOf func(name string) ([]byte, error)) error {
	value, err := valueOf(ServedValue)
	if err != nil || value == nil {
		return err
	}
	var at struct {
		Next  uint64 `json:"next"`
		Ended bool   `json:"ended"`
	}
	if err := json.Unmarshal(value, &at); err != nil {
		return fmt.Errorf("index %s: the value %s: %w", dir, ServedValue, err)
	}
	if at.Ended {
		return nil
	}
	return fmt.Errorf("index %s: %w, and %s with answered documents is missing; put it back from the source of the table's copy, or give up those documents with firstseen index abandon %s",
		dir, ErrServed, ServedName(at.Next), dir)
}

// ForgetServer gives up the documents that only a server's lost journals had. It returns false if
// no journal is missing.
func (x *Index) ForgetServer() (bool, error) {
	if err := complete(x.dir, x.Value); !errors.Is(err, ErrServed) {
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

// unserved refuses an index with journals of a server: the documents in them would be unknown.
func (p *presence) unserved(dir string) error {
	if p.served == 0 {
		return nil
	}
	return fmt.Errorf("index %s: %w, and %s holds documents that the index does not have yet; ask the server, or run firstseen serve --index %s and stop it: that moves them into the index",
		dir, ErrServed, filepath.Join(dir, ServedName(p.served)), dir)
}

// FollowedName names the owner's value of an index that follows a log; see docs/format.md, "A log".
const FollowedName = "followed"

// ErrFollowed is returned for an index whose documents come only from a log.
var ErrFollowed = errors.New("the index follows a log, and a change outside the log would make it differ from the other followers")

func (x *Index) unfollowed() error {
	value, err := x.Value(FollowedName)
	if err != nil || value == nil {
		return err
	}
	return fmt.Errorf("index %s: %w; give documents to firstseen serve --log, or give another index", x.dir, ErrFollowed)
}

// addressFile holds the address of the index's server. It is valid only while the lock is held: a
// killed server leaves it.
const addressFile = "server"

// Announce publishes the address of the index's server on this machine. "" withdraws it.
func (x *Index) Announce(address string) error {
	if x.closed {
		return errIndexClosed // the address may be that of the next owner
	}
	path := x.path(addressFile)
	if address == "" {
		return durable.RemoveLeft(path)
	}
	return durable.Replace(path, func(f *os.File) error {
		_, err := fmt.Fprintln(f, address)
		return err
	})
}

// ServerAddress returns the announced address of the server of the index in dir, or "".
func ServerAddress(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, addressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	free, err := lock.TryRLock()
	if err = errors.Join(err, lock.Close()); free || err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}
