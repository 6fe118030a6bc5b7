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
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/owners"
)

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

// complete refuses an index whose server was killed and whose journals are missing, as in a partial
// copy: answered documents would be kept again.
func complete(dir string, valueOf func(name string) ([]byte, error)) error {
	value, err := valueOf(owners.Served)
	if err != nil || value == nil {
		return err
	}
	var at struct {
		Next  uint64 `json:"next"`
		Ended bool   `json:"ended"`
	}
	if err := json.Unmarshal(value, &at); err != nil {
		return fmt.Errorf("index %s: the value %s: %w", dir, owners.Served, err)
	}
	if at.Ended {
		return nil
	}
	return fmt.Errorf("index %s: %w, and %s with answered documents is missing; put it back from the source of the table's copy, or give up those documents with firstseen index abandon %s",
		dir, ErrServed, owners.Journal(at.Next), dir)
}

// ForgetServer gives up the documents that only a server's lost journals had. It returns false if
// no journal is missing.
func (x *Index) ForgetServer() (bool, error) {
	if err := complete(x.dir, x.Value); !errors.Is(err, ErrServed) {
		return false, err
	}
	have, err := owners.Journals(x.dir)
	if err != nil || len(have) > 0 {
		return false, err
	}
	if err := x.Begin(Policy{}); err != nil {
		return false, err
	}
	return true, x.Finish(map[string][]byte{owners.Served: nil})
}

// unserved refuses an index with journals of a server: the documents in them would be unknown.
func (p *presence) unserved(dir string) error {
	if p.served == 0 {
		return nil
	}
	return fmt.Errorf("index %s: %w, and %s holds documents that the index does not have yet; ask the server, or run firstseen serve --index %s and stop it: that moves them into the index",
		dir, ErrServed, filepath.Join(dir, owners.Journal(p.served)), dir)
}

func (x *Index) unfollowed() error {
	value, err := x.Value(owners.Followed)
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
