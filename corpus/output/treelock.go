package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/claim"
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
	if _, err = f.Seek(0, io.SeekEnd); err == nil {
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

// CutTree is [CutPartial] for the outputs of a tree without names yet. It returns the partial files with
// the content known to the mark. Outputs begun later are removed, if all others are as the mark has
// them: another run over the same inputs writes them again.
func CutTree(dir string, at TreeMark) (left []string, err error) {
	files := slices.Clip(at.Done)
	if at.Open != nil {
		files = append(files, *at.Open)
	}
	known, all := map[string]bool{}, true
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		there, err := CutPartial(path, f.Mark)
		if there {
			left = append(left, path+input.PartialSuffix)
		} else if err == nil {
			there, err = Published(path, f.Mark)
		}
		if err != nil {
			return left, err
		}
		known[f.Name] = true
		all = all && there
	}
	if !all {
		return left, nil
	}
	return left, dropLater(dir, at.Stage, known)
}

// dropLater removes the partial files of outputs that the run of a token has begun, except the known.
func dropLater(dir, token string, known map[string]bool) error {
	lock, err := readLock(take(filepath.Join(dir, treeName)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || lock.token != token {
		return errors.Join(err, lock.release())
	}
	for _, name := range lock.begun {
		path := filepath.Join(dir, name)
		if _, statErr := os.Lstat(path + input.PartialSuffix); statErr != nil || known[name] {
			continue
		}
		if _, err = clearPartial(path, true); err != nil {
			break
		}
	}
	return errors.Join(err, lock.release())
}
