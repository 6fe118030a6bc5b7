package output

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstseen/firstseen/corpus/input"
)

// Create starts an output. A regular file of that name stays unchanged until Close replaces it. The
// partial file of an earlier run is removed if it is among the worthless, and otherwise put aside,
// see Aside. Create returns ErrBusy if another run is writing the output.
func Create(name string, worthless ...FileID) (*Writer, error) {
	if name == input.Stdin {
		return newWriter("standard output", partial{}, stdout{os.Stdout}, regular(os.Stdout) != nil, packings[""]), nil
	}
	path, direct, err := resolve(name)
	if err == nil && direct {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("opening output: %w", err)
		}
		return newWriter(name, partial{}, f, false, packingOf(name)), nil
	}
	if err == nil {
		err = inTree(path)
	}
	var part partial
	if err == nil {
		part, err = newPartial(path, worthless...)
	}
	if errors.Is(err, fs.ErrNotExist) { // of this folder, or of one before ..
		err = cmp.Or(noFolder(path), err)
	}
	var f *os.File
	if err == nil {
		if f, err = part.claim.Open(); err != nil {
			err = errors.Join(err, part.giveUp(false))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	return newWriter(name, part, f, true, packingOf(name)), nil
}

// noFolder returns an error if the folder of an output is missing.
func noFolder(name string) error {
	dir := filepath.Dir(name)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: there is no folder %s: make it first, or give another name", name, dir)
}

// OpenAt continues an output that was not closed: it truncates the partial file to a mark from
// Sync. It fails if the file is missing, shorter or different. At size 0 it is Create. If the
// output Swallows everything, OpenAt opens it again.
func OpenAt(name string, at Mark) (*Writer, error) {
	if Swallows(name) || at.Size == 0 && name != input.Stdin {
		return Create(name)
	}
	path, direct, err := resolve(name)
	if err == nil && direct {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("continuing output %s: %w", name, err)
	}
	part, f, err := takeAt(path, at)
	if err != nil {
		return nil, fmt.Errorf("continuing output: %w", err)
	}
	w := newWriter(name, part, f, true, packingOf(name))
	w.written = at.Size
	return w, nil
}

// maxLinks is the maximum number of links to follow.
const maxLinks = 40

// resolve returns the file that a name leads to through links, even if it does not exist yet.
// direct is set for standard output, and for an existing irregular file.
func resolve(name string) (path string, direct bool, err error) {
	if name == input.Stdin {
		return name, true, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		path, err = followDangling(name)
		return path, false, err
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, fmt.Errorf("%s is a directory: give the name of a file", name)
	case !info.Mode().IsRegular():
		return name, true, nil
	}
	path, err = filepath.EvalSymlinks(name)
	return path, false, err
}

// followDangling returns the target of a link to nothing, and any other name unchanged.
func followDangling(name string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(name)
		if err != nil {
			return name, nil
		}
		if !filepath.IsAbs(target) {
			// Not filepath.Join: after a link to a folder, ".." is elsewhere.
			dir, _ := filepath.Split(name)
			target = dir + target
		}
		name = target
	}
	return "", fmt.Errorf("%s: too many links", name)
}

// stdout never closes standard output.
type stdout struct{ *os.File }

func (stdout) Close() error { return nil }

// place is the present or future location of a file, with relative names and all links resolved.
type place struct {
	said string      // as named, for messages
	path string      // with links resolved
	info fs.FileInfo // nil if nothing exists there
	dir  fs.FileInfo // of its folder; nil if that is missing, too
}

func locate(name string) place {
	p := place{said: name, path: name}
	p.info, _ = os.Stat(name)
	if p.info == nil {
		p.path, _ = followDangling(name)
	} else if real, err := filepath.EvalSymlinks(name); err == nil {
		p.path = real
	}
	// Not filepath.Dir, which removes "link/..".
	dir, _ := filepath.Split(p.path)
	p.dir, _ = os.Stat(cmp.Or(dir, "."))
	return p
}

// same reports whether two places are the same file.
func (p place) same(o place) bool {
	if p.info != nil || o.info != nil {
		return p.info != nil && o.info != nil && os.SameFile(p.info, o.info)
	}
	if p.dir != nil && o.dir != nil {
		return os.SameFile(p.dir, o.dir) && foldName(filepath.Base(p.path)) == foldName(filepath.Base(o.path))
	}
	a, errA := filepath.Abs(p.path)
	b, errB := filepath.Abs(o.path)
	return errA == nil && errB == nil && foldName(a) == foldName(b)
}

// inside reports whether a place is the folder, or lies in it at any depth.
func (p place) inside(folder place) bool {
	path := p.path
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	for {
		if locate(path).same(folder) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

// taken returns the places used by an output. Outputs can share devices such as /dev/null.
func taken(name string) []place {
	if name == input.Stdin {
		if info := regular(os.Stdout); info != nil {
			return []place{{said: "standard output", info: info}}
		}
		return nil
	}
	p := locate(name)
	if p.info != nil && !p.info.Mode().IsRegular() && !p.info.IsDir() {
		return nil
	}
	part := locate(p.path + input.PartialSuffix)
	part.said = name
	return []place{p, part}
}

// CheckOutputs returns an error if an output would overwrite an input or another output, or lies in
// an index. It resolves links of either kind, even to missing files. "-" is standard output or,
// among inputs, standard input; they count if they are files. So do standard error, and standard
// output under another name: a file opened by the shell must not be replaced. "" is ignored.
func CheckOutputs(inputs []input.Input, index string, outputs ...string) error {
	var all []place
	for i, out := range outputs {
		if out == "" || out == input.Stdin && slices.Contains(outputs[:i], out) {
			continue
		}
		places := taken(out)
		for _, p := range places {
			if twice := slices.IndexFunc(all, p.same); twice >= 0 {
				return fmt.Errorf("%s is named as output twice, the second time as %s: give each output its own file", all[twice].said, p.said)
			}
			if index != "" && p.path != "" && p.inside(locate(index)) {
				return fmt.Errorf("output %s lies in the index directory %s: choose another place", p.said, index)
			}
		}
		all = append(all, places...)
	}
	if len(all) == 0 {
		return nil
	}
	return checkPlaces(all, inputs, index)
}

// checkPlaces rejects files of standard error, an index, an input and, unless "-", standard output.
func checkPlaces(outputs []place, inputs []input.Input, index string) error {
	check := func(at place, isStream bool, refusal string) error {
		for _, out := range outputs {
			if out.same(at) && (out.path != "" || !isStream) {
				return fmt.Errorf("output %s %s", out.said, refusal)
			}
		}
		return nil
	}
	var err error
	if info := regular(os.Stdout); info != nil {
		err = check(place{info: info}, true, `is the file that standard output goes to: give "-"`)
	}
	if info := regular(os.Stderr); info != nil && err == nil {
		err = check(place{info: info}, true, "is the file that standard error goes to: choose another name")
	}
	if index != "" {
		entries, _ := os.ReadDir(index) // opening an unreadable index fails later
		for _, e := range entries {
			err = cmp.Or(err, check(locate(filepath.Join(index, e.Name())), false, "lies in the index directory "+index+": choose another place"))
		}
	}
	for i := 0; i < len(inputs) && err == nil; i++ {
		if info, statErr := statInput(inputs[i]); statErr == nil && info.Mode().IsRegular() {
			err = check(place{info: info}, false, "is the input "+inputs[i].Name+": choose another name")
		}
	}
	return err
}

// regular returns the FileInfo of an open regular file, or nil.
func regular(f *os.File) fs.FileInfo {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return info
	}
	return nil
}

func statInput(in input.Input) (fs.FileInfo, error) {
	if in.Path == input.Stdin {
		return os.Stdin.Stat()
	}
	return os.Stat(in.File())
}

// Swallows reports whether an output is the null device. A run that writes to it can be continued.
func Swallows(name string) bool {
	info, err := os.Stat(name)
	if err != nil || info.Mode().IsRegular() || name == input.Stdin {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}
