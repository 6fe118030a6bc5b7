package output

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/claim"
	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/step"
)

// treeName has the partial file that locks a tree. One lock stands for all outputs: each
// lock keeps a file open, and thousands of outputs may wait for their names.
const treeName = "firstseen"

// namingNote stands in the lock behind its token while outputs get their names and no
// checkpoint knows of them.
const namingNote = " placing"

// treeLock is the lock of a tree. A random token in it identifies the run.
type treeLock struct {
	claim  *claim.Claim
	token  string // "" in a new lock
	naming bool
	begun  []string // names of outputs, so that those behind the last checkpoint can be found
}

// makeLock makes the lock of a tree, or takes the one that an earlier run has left.
func makeLock(dir string) (*treeLock, error) {
	return readLock(makeOrTake(filepath.Join(dir, treeName)))
}

// takeLock takes the lock that an earlier run has left.
func takeLock(dir string) (*treeLock, error) {
	return readLock(take(filepath.Join(dir, treeName)))
}

// inTree refuses a path inside a tree that an interrupted run has left. When that run is continued,
// it would take a partial file there for its own.
func inTree(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		lock := filepath.Join(dir, treeName+input.PartialSuffix)
		if _, err := os.Lstat(lock); err == nil && lock != abs {
			return fmt.Errorf("%s lies in an unfinished tree of outputs (%s): finish that run first, or choose another folder", path, lock)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// readLock reads a lock that was claimed, unless the claim failed.
func readLock(c *claim.Claim, err error) (*treeLock, error) {
	if err != nil {
		return nil, err
	}
	f, err := c.Open()
	if err != nil {
		return nil, errors.Join(err, c.Release())
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, c.Release())
	}
	lines := strings.Split(string(text), "\n")
	token, naming := strings.CutSuffix(lines[0], namingNote)
	l := &treeLock{claim: c, token: token, naming: naming}
	for _, line := range lines[1:] {
		if name, err := strconv.Unquote(line); err == nil { // a kill may cut the last one
			l.begun = append(l.begun, name)
		}
	}
	return l, nil
}

// note writes the lock to the disk.
func (l *treeLock) note() error {
	f, err := l.claim.Open()
	if err != nil {
		return err
	}
	text := l.token
	if l.naming {
		text += namingNote
	}
	for _, name := range l.begun {
		text += "\n" + strconv.Quote(name)
	}
	if _, err = f.WriteString(text); err == nil {
		err = f.Truncate(int64(len(text)))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// begin notes the beginning of an output. Nothing is synced: after a power cut the partial file of an
// unnoted output stays.
func (l *treeLock) begin(name string) error {
	l.begun = append(l.begun, name)
	f, err := l.claim.Open()
	if err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.WriteString("\n" + strconv.Quote(name))
	}
	return errors.Join(err, f.Close())
}

// remove removes the lock, once no output waits for its name.
func (l *treeLock) remove() error {
	if l == nil {
		return nil
	}
	if err := l.claim.Remove(); err != nil {
		return err
	}
	return step.Done("removed tree lock")
}

func (l *treeLock) release() error {
	if l == nil {
		return nil
	}
	return l.claim.Release()
}

func newToken() string {
	var token [8]byte
	_, _ = rand.Read(token[:]) // never fails
	return hex.EncodeToString(token[:])
}

// path is the path of an output's partial file.
func (t *Tree) path(name string) string { return filepath.Join(t.plan.Dir, name+input.PartialSuffix) }

// drop removes an output's partial file, and the folders that are empty without it.
func (t *Tree) drop(name string) error {
	if err := t.root.Remove(name + input.PartialSuffix); err != nil {
		return err
	}
	for folder := filepath.Dir(name); folder != "." && t.root.Remove(folder) == nil; {
		folder = filepath.Dir(folder)
	}
	return nil
}

// syncing is how many files are brought to the disk at a time.
const syncing = 16

// syncDone brings the whole outputs to the disk. Many at a time take far less time than
// one after the other, and most outputs of a tree are small.
func (t *Tree) syncDone() error {
	var all errgroup.Group
	all.SetLimit(syncing)
	for _, f := range t.at.Done[t.sure:] {
		all.Go(func() error { return syncFile(t.path(f.Name)) })
	}
	return all.Wait()
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// publish gives the first n whole outputs their names, and makes the names durable. It
// passes over those that an earlier try has named.
func (t *Tree) publish(n int) error {
	files := t.at.Done[:n]
	for _, f := range files {
		if err := t.publishOne(f); err != nil {
			return err
		}
	}
	if err := t.syncNames(files); err != nil {
		return err
	}
	t.at.Done = append([]TreeFile(nil), t.at.Done[n:]...)
	t.sure = max(t.sure-n, 0)
	return nil
}

func (t *Tree) publishOne(f TreeFile) error {
	info, err := t.root.Lstat(f.Name + input.PartialSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has its name: OpenTree has looked
	}
	if !t.over {
		if err := refuseFile(t.root, t.plan.Dir, f.Name); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if info.Size() != f.Mark.Size {
		return fmt.Errorf("%s: %w", t.path(f.Name), errOtherFile)
	}
	if err := t.root.Rename(f.Name+input.PartialSuffix, f.Name); err != nil {
		return err
	}
	return step.Done("placed output")
}

// syncNames makes the names of outputs durable, and those of the folders above them.
func (t *Tree) syncNames(files []TreeFile) error {
	synced := map[string]bool{}
	for _, f := range files {
		for name := f.Name; name != "." && !synced[filepath.Dir(name)]; name = filepath.Dir(name) {
			if err := durable.SyncName(filepath.Join(t.plan.Dir, name)); err != nil {
				return err
			}
			synced[filepath.Dir(name)] = true
		}
	}
	return nil
}

// makeDir makes a folder and those above it, durably.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if up := filepath.Dir(dir); up != dir {
		if err := makeDir(up); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncName(dir)
}
