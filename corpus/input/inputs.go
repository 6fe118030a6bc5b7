// Package input lists the inputs of a run. [Expand] turns files, globs, folders and archives into
// inputs, a [Finder] finds an input by its name, and [Input.Open] opens it.
package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
)

// Stdin is the name of standard input in a list of inputs, and of standard output as an output.
const Stdin = "-"

// Input is a file, a member of an archive, or standard input.
type Input struct {
	Path string // of the file, or ARCHIVE/MEMBER; "-" is standard input
	Name string // in records and messages; "stdin" for "-"
	Size int64  // stored bytes, or unpacked bytes of a member; -1 if unknown (pipes)

	Member *member // nil outside archives
}

// Expand turns command line arguments into inputs, in the order given.
//
// An argument is "-" (at most once), a file of any name, a directory, or a member ARCHIVE/MEMBER.
// If no such file exists, it is a glob in the syntax of [filepath.Match], expanded in lexical
// order. A directory stands for all files below it with one of the endings, also followed by that
// of a compression, in lexical order. Links to directories inside it are not followed. A tar or zip
// archive, recognized by its ending, is read like a directory, in stored order.
//
// In a directory, Expand skips named pipes, sockets, devices and broken links: reading might block
// forever. It returns these, and links to directories, for messages. As an argument, it reads a
// pipe, a device or such a link.
//
// An argument without inputs is an error: better now than hours into a run. For unreadable files,
// Expand returns [Unreadable] together with the other inputs.
func Expand(args, endings []string) (inputs []Input, passed []Passed, err error) {
	return ExpandWithin(args, endings, compress.Bounds{})
}

// ExpandWithin is Expand with the given bounds for archives.
func ExpandWithin(args, endings []string, bounds compress.Bounds) (inputs []Input, passed []Passed, err error) {
	l := list{endings: endings, limits: bounds.Decoders(), listed: map[string]*contents{}, asked: map[string]bool{}}
	for _, arg := range args {
		l.asked[filepath.ToSlash(arg)] = true
	}
	for _, arg := range args {
		if arg == Stdin && slices.ContainsFunc(l.inputs, func(in Input) bool { return in.Path == Stdin }) {
			return nil, nil, errors.New("standard input (-) is named twice")
		}
		if err := l.add(arg); err != nil {
			return nil, nil, err
		}
	}
	if l.refused != nil {
		err = l.refused
	}
	return l.inputs, l.passed, err
}

// Unreadable is the error that names all unreadable inputs, so that none is met hours later.
type Unreadable []Refused

// Refused is an unreadable input, with the error that names it.
type Refused struct {
	Name string
	Err  error
}

func (u Unreadable) Error() string {
	if len(u) == 1 {
		return u[0].Err.Error()
	}
	all := fmt.Sprintf("%d inputs cannot be read:", len(u))
	for _, r := range u {
		all += "\n  " + r.Err.Error()
	}
	return all
}

// Unwrap returns the errors of the inputs.
func (u Unreadable) Unwrap() (all []error) {
	for _, r := range u {
		all = append(all, r.Err)
	}
	return all
}

// Passed describes a skipped entry or an unpacked archive, for messages.
type Passed struct {
	Path string
	Why  string // its kind, such as "a named pipe"
	// Others, if not nil, counts the other files of the directory by their endings.
	Others map[string]int
	Like   int // number of further entries of its kind in an archive
	// Unpacked is the number of bytes of the archive at Path written to a temporary file, or 0.
	Unpacked int64
}

// PartialSuffix follows the name of an output, after resolving links, until the output is complete.
// In a directory, files with this ending are no inputs.
const PartialSuffix = ".partial"

// ErrNone is returned for a directory or an archive without files that have one of the endings.
var ErrNone = errors.New("nothing to read")

// list expands arguments.
type list struct {
	endings []string // of input files in a directory
	inputs  []Input
	passed  []Passed
	refused Unreadable
	limits  compress.Decoders
	listed  map[string]*contents // archives with named members
	asked   map[string]bool      // all named members; nil if unknown
}

// refuse adds an unreadable input, or nothing without an error.
func (l *list) refuse(name string, err error) error {
	if err != nil {
		l.refused = append(l.refused, Refused{name, err})
	}
	return nil
}

func (l *list) add(arg string) error {
	if arg == "" {
		return errors.New("an input has an empty name: a shell variable may be unset")
	}
	if arg == Stdin {
		in := Input{Path: Stdin, Name: "stdin", Size: -1}
		if info, err := os.Stdin.Stat(); err == nil && info.Mode().IsRegular() {
			in.Size = info.Size()
		}
		l.inputs = append(l.inputs, in)
		return nil
	}
	info, err := os.Stat(arg)
	if file := strings.TrimRight(filepath.ToSlash(arg), "/"); err != nil && file != arg && IsArchive(file) {
		arg = file // shell completion appends a slash
		info, err = os.Stat(arg)
	}
	if err != nil {
		if in, found, memberErr := l.findMember(arg); found {
			if memberErr == nil {
				l.inputs = append(l.inputs, in)
			}
			return l.refuse(arg, memberErr)
		}
	}
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[") {
		return l.addGlob(arg)
	}
	switch {
	case err != nil:
		return l.refuse(arg, fmt.Errorf("looking for input: %w", err))
	case info.IsDir():
		return l.addDir(arg)
	case info.Mode()&fs.ModeSocket != 0:
		return l.refuse(arg, fmt.Errorf("input %s is a socket, which cannot be opened: connect a program to it, and pipe its output to firstseen", arg))
	case info.Mode().IsRegular() && IsArchive(arg):
		return l.addArchive(arg, info, true)
	}
	return l.addFile(arg, info)
}

func (l *list) addGlob(pattern string) error {
	if strings.Contains(pattern, "**") {
		return fmt.Errorf("%q: ** matches one folder here, as * does; name the folder itself, or list the files with find and give @LIST", pattern)
	}
	names, err := filepath.Glob(pattern)
	if err != nil {
		return fmt.Errorf("glob %q: %w", pattern, err)
	}
	if len(names) == 0 {
		return fmt.Errorf("no file matches %q", pattern)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := l.add(name); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) addDir(dir string) error {
	before := len(l.inputs) + len(l.refused)
	// The trailing separator makes the walk follow a link to a directory.
	others := map[string]int{}
	root := strings.TrimRight(dir, string(filepath.Separator)) + string(filepath.Separator)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return l.refuse(path, fmt.Errorf("listing %s: %w", dir, err))
		case d.IsDir():
			return nil
		case !l.means(d.Name()) && !IsArchive(d.Name()) && !linksFolder(path, d):
			if ending := filepath.Ext(d.Name()); ending != PartialSuffix {
				others[archive.Printable(ending)]++
			}
			return nil
		}
		return l.addFound(path)
	})
	if err != nil {
		return fmt.Errorf("listing %s: %w", dir, err)
	}
	if len(l.inputs)+len(l.refused) == before {
		return fmt.Errorf("%w: no %s in directory %s", ErrNone, l.meant(), dir)
	}
	if len(others) > 0 {
		l.passed = append(l.passed, Passed{Path: dir, Others: others})
	}
	return nil
}

// meant names the endings of inputs, for messages.
func (l *list) meant() string {
	last := len(l.endings) - 1
	names := strings.TrimPrefix(strings.Join(l.endings[:last], ", ")+" or "+l.endings[last], " or ")
	return names + " file (plain, .gz, .zst, .bz2, .xz or .lz4)"
}

func (l *list) addFound(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP):
		l.passed = append(l.passed, Passed{Path: path, Why: "a link that leads nowhere"})
		return nil
	case err != nil:
		return l.refuse(path, err)
	case !info.Mode().IsRegular():
		l.passed = append(l.passed, Passed{Path: path, Why: kindOf(info.Mode())})
		return nil
	case IsArchive(path):
		return l.addArchive(path, info, false)
	}
	return l.addFile(path, info)
}

// linksFolder reports whether an entry is a link to a directory.
func linksFolder(path string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a link to a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "an entry of unknown kind"
}

// means reports whether a file in a directory is an input by its name.
func (l *list) means(name string) bool {
	return slices.Contains(l.endings, filepath.Ext(UncompressedName(name)))
}

func (l *list) addFile(path string, info fs.FileInfo) error {
	in := Input{Path: path, Name: path, Size: -1}
	if info.Mode().IsRegular() { // opening a named pipe would wait for its writer
		in.Size = info.Size()
		f, err := os.Open(path)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return l.refuse(path, fmt.Errorf("input cannot be read: %w", err))
		}
	}
	l.inputs = append(l.inputs, in)
	return nil
}

// TotalSize returns the stored bytes of all inputs. known is false if one of them is a pipe.
func TotalSize(inputs []Input) (total int64, known bool) {
	known = true
	for _, in := range inputs {
		known = known && in.Size >= 0
		total += max(in.Size, 0)
	}
	return total, known
}

// UncompressedName returns a name without the ending of a compression.
func UncompressedName(name string) string {
	for _, ending := range []string{".gz", ".zst", ".bz2", ".xz", ".lz4"} {
		if short, found := strings.CutSuffix(name, ending); found {
			return short
		}
	}
	return name
}
