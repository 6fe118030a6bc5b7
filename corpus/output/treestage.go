package output

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/claim"
	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/step"
)

// treeStage is the folder of a tree in which outputs are until they are whole, and
// stageFile a file of it that is locked by who writes them, and tells by what it holds
// which run that was.
const (
	treeStage = "firstseen" + input.PartialSuffix
	stageFile = ".run"

	placingNote = "placing" // behind the token
)

// stage is the folder of outputs that are not whole, and of those that are and have not
// their places.
type stage struct {
	dir   string   // of the tree
	root  *os.Root // the same: no link leads what is written out of it
	claim *claim.Claim
	token string // what stageFile holds
	fresh bool   // it was made by this run, and no mark knows of it
	// placing: all outputs were whole, and were being given their places.
	placing bool
	again   bool // what was placed so before is worth nothing
	aside   string
}

// path is where an output is; "" is the folder itself.
func (s *stage) path(name string) string { return filepath.Join(s.dir, treeStage, name) }

// newStage makes the stage of a tree, and has put aside what was there: unless refused
// says why nothing can be written beside it.
func newStage(dir string, refused error, worthless []FileID) (*stage, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() // nothing is lost
	again, aside := false, ""
	for {
		if err := makeFolder(root, dir, treeStage); err != nil {
			return nil, err
		}
		token := newToken()
		f, err := root.OpenFile(filepath.Join(treeStage, stageFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		made := err == nil
		if made {
			_, err = f.WriteString(token)
			err = errors.Join(err, f.Sync(), f.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			if errors.Is(err, fs.ErrNotExist) {
				continue // another run has put the folder aside meanwhile
			}
			return nil, err
		}
		s, err := takeStage(dir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, claim.ErrMoved) {
			continue // likewise, or finished
		}
		if err != nil {
			return nil, err
		}
		id := s.claim.ID()
		worth := id == FileID{} || !slices.Contains(worthless, id)
		empty, err := s.empty()
		switch {
		case err != nil:
		case empty && made && s.token == token:
			s.fresh, s.again, s.aside = true, again, aside
			return s, nil
		case !worth || empty:
			again = again || !worth && s.placing
			err = errors.Join(s.clear(), s.remove())
		case refused != nil:
			err = refused
		default:
			aside, err = s.putAside()
		}
		if err := errors.Join(err, s.release()); err != nil {
			return nil, err
		}
	}
}

// notePlacing notes that outputs are being given their places, where no checkpoint says so:
// the same command may begin anew, and replace them.
func (s *stage) notePlacing() error {
	f, err := s.claim.Open()
	if err != nil {
		return err
	}
	_, err = f.WriteString(s.token + " " + placingNote)
	return errors.Join(err, f.Sync(), f.Close())
}

func newToken() string {
	var token [8]byte
	_, _ = rand.Read(token[:]) // never fails
	return hex.EncodeToString(token[:])
}

// takeStage claims the stage that is there.
func takeStage(dir string) (_ *stage, err error) {
	s := &stage{dir: dir}
	if s.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	if _, err := s.root.Stat(filepath.Join(treeStage, stageFile)); err != nil {
		return nil, err
	}
	path := s.path(stageFile)
	s.claim, err = claim.Take(path)
	if errors.Is(err, claim.ErrTaken) {
		return nil, fmt.Errorf("%s: %w; wait for it to end, or choose another name", s.path(""), ErrBusy)
	}
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	id, more, _ := strings.Cut(string(token), " ")
	s.token, s.placing = id, more == placingNote
	return s, nil
}

func (s *stage) release() error {
	err := s.claim.Release()
	if s.root != nil {
		err = errors.Join(err, s.root.Close())
	}
	return err
}

// create opens an output in the stage, anew or, with more than nothing in it, as it is.
func (s *stage) create(name string, anew bool) (*os.File, error) {
	name = filepath.Join(treeStage, name)
	if !anew {
		return s.root.OpenFile(name, os.O_RDWR, 0)
	}
	if err := s.root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	return s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// each calls f for all files of the stage but its own, by their names.
func (s *stage) each(f func(name string, d fs.DirEntry) error) error {
	root := s.path("")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == stageFile {
			return err
		}
		return f(name, d)
	})
}

// empty tells whether nothing is in any output.
func (s *stage) empty() (bool, error) {
	empty := true
	err := s.each(func(_ string, d fs.DirEntry) error {
		info, err := d.Info()
		if err == nil && info.Size() > 0 || !d.Type().IsRegular() {
			empty = false
			return fs.SkipAll
		}
		return err
	})
	return empty, err
}

// clear removes all outputs.
func (s *stage) clear() error {
	return s.each(func(name string, _ fs.DirEntry) error { return os.Remove(s.path(name)) })
}

// remove removes the stage, in which no output is any more.
func (s *stage) remove() error {
	if s.claim == nil {
		_ = os.Remove(s.path("")) // a run was stopped between the two steps below
		return nil
	}
	var folders []string
	err := filepath.WalkDir(s.path(""), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Reverse(folders) // what is in a folder before the folder
	for _, folder := range folders[:len(folders)-1] {
		if err := os.Remove(folder); err != nil {
			return err
		}
	}
	if err := s.claim.Remove(); err != nil {
		return err
	}
	if err := step.Done("removed stage file"); err != nil {
		return err
	}
	return os.Remove(s.path(""))
}

// putAside gives the stage the first free of the names firstseen.partial.1, .2, ...
func (s *stage) putAside() (aside string, err error) {
	if runtime.GOOS == "windows" { // where no folder is renamed in which a file is open
		err = s.release()
		s.claim = nil
	}
	for n := 1; err == nil; n++ {
		aside = fmt.Sprintf("%s.%d", s.path(""), n)
		if _, err := os.Lstat(aside); err == nil {
			continue
		}
		// A folder in which anything is cannot be replaced by a rename.
		if err = os.Rename(s.path(""), aside); errors.Is(err, fs.ErrExist) {
			err = nil
			continue
		}
		if err == nil {
			return aside, errors.Join(os.Remove(filepath.Join(aside, stageFile)), durable.SyncName(aside))
		}
	}
	return "", fmt.Errorf("putting %s aside: %w", s.path(""), err)
}

// holds reports whether an output is in the stage, as it was left.
func (s *stage) holds(file TreeFile) (bool, error) {
	f, err := os.Open(s.path(file.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() != file.Mark.Size {
		return false, fmt.Errorf("%s: %w", f.Name(), errOtherFile)
	}
	_, err = file.Mark.check(f)
	return err == nil, err
}

// syncing is how many files are brought to the disk at a time.
const syncing = 16

// sync brings outputs to the disk.
func (s *stage) sync(files []TreeFile) error {
	errs := make([]error, min(syncing, len(files)))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for k := i; k < len(files) && errs[i] == nil; k += len(errs) {
				errs[i] = syncFile(s.path(files[k].Name))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// place gives outputs their places, and makes these durable. Those that are there from
// an earlier try are passed over; any other file is in the way, unless over.
func (s *stage) place(files []TreeFile, over bool) error {
	var folders []string
	made := map[string]bool{}
	for _, f := range files {
		folder := filepath.Dir(f.Name)
		if !made[folder] {
			made[folder] = true
			folders = append(folders, folder)
			if err := makeFolder(s.root, s.dir, folder); err != nil {
				return err
			}
		}
		if err := s.placeOne(f, over); err != nil {
			return err
		}
	}
	for _, folder := range folders {
		if err := durable.SyncName(filepath.Join(s.dir, folder, "x")); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) placeOne(f TreeFile, over bool) error {
	if _, err := os.Lstat(s.path(f.Name)); errors.Is(err, fs.ErrNotExist) {
		return nil // it is there: OpenTree has looked
	}
	if !over {
		if err := refuseFile(s.root, s.dir, f.Name); err != nil {
			return err
		}
	}
	if err := s.root.Rename(filepath.Join(treeStage, f.Name), f.Name); err != nil {
		return err
	}
	return step.Done("placed output")
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

// makeFolder makes a folder of the tree in dir, which root is, durably.
func makeFolder(root *os.Root, dir, folder string) error {
	if _, err := root.Stat(folder); err == nil {
		return nil
	}
	if up := filepath.Dir(folder); up != folder {
		if err := makeFolder(root, dir, up); err != nil {
			return err
		}
	}
	if err := root.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncName(filepath.Join(dir, folder))
}
