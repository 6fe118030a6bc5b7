package input

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/internal/base/scratch"
)

// zipEnding and tarEndings are endings of archives. That of a compression may follow .tar.
const zipEnding = ".zip"

var tarEndings = []string{".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst"}

// IsArchive reports whether a name is that of an archive, which is read like a folder.
func IsArchive(name string) bool {
	ending := filepath.Ext(UncompressedName(strings.ToLower(name)))
	return ending == zipEnding || slices.Contains(tarEndings, ending)
}

type container struct {
	path  string
	spool *os.File // members that cannot be read in place, or nil
	ratio int      // bound of the expansion under which it was listed
}

// member is an input in an archive.
type member struct {
	archive.Member
	in *container
}

// Content returns a reader of a zip member that limits its expansion.
func Content(m *archive.Member, file io.ReaderAt, maxRatio int) io.Reader {
	return &compress.Expansion{R: m.Open(file), Stored: m.Stored(file).Size, Most: maxRatio}
}

type contents struct {
	inputs []Input
	*archive.Contents
	spooled int64
	isWACZ  bool
	refused error          // of the first member that cannot be read
	byName  map[string]int // of inputs, if members are named
}

// listArchive lists the wanted members of an archive, and spools those of a compressed tar archive.
func (l *list) listArchive(name string, want func(name string) bool) (*contents, error) {
	in := &container{path: name, ratio: l.limits.MaxRatio}
	hasPackage, hasWARC := false, false
	found, spooled, err := l.readArchive(in, func(name string) bool {
		hasPackage = hasPackage || name == "datapackage.json"
		hasWARC = hasWARC || strings.HasPrefix(name, "archive/") && strings.HasSuffix(UncompressedName(name), ".warc")
		return want(name)
	})
	if err != nil {
		if in.spool != nil {
			err = errors.Join(err, in.spool.Close())
		}
		return nil, fmt.Errorf("archive %s: %w", name, err)
	}
	c := &contents{Contents: found, spooled: spooled, isWACZ: hasPackage && hasWARC}
	members := make([]member, len(found.Members))
	for i, m := range found.Members {
		path := name + "/" + m.Name
		m.Name = path[len(name)+1:] // share the bytes: the list may be long
		members[i] = member{m, in}
		if c.refused == nil {
			c.refused = m.Err()
		}
		c.inputs = append(c.inputs, Input{Path: path, Name: path, Size: m.Size, Member: &members[i]})
	}
	c.Members = nil
	return c, nil
}

// readArchive lists an archive of either kind, and returns the number of bytes spooled.
func (l *list) readArchive(in *container, want func(name string) bool) (_ *archive.Contents, spooled int64, err error) {
	f, err := os.Open(in.path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	section := io.NewSectionReader(f, 0, info.Size())
	// Sparse files can expand, too.
	ratio := &compress.Expansion{Stored: section.Size, Most: l.limits.MaxRatio}
	lister := archive.Lister{Want: want, Spool: func() (_ io.Writer, err error) {
		if in.spool == nil {
			in.spool, err = scratch.New()
		}
		return expanded{in.spool, ratio}, err
	}}
	if strings.HasSuffix(strings.ToLower(in.path), zipEnding) {
		found, err := lister.Zip(f, info.Size())
		return found, 0, err
	}
	defer l.limits.Close()
	decoded, err := l.limits.Decode(in.path, compress.Counter{R: section, N: new(int64)})
	if err != nil {
		return nil, 0, err
	}
	if _, plain := decoded.(*bufio.Reader); plain {
		decoded = io.NewSectionReader(f, 0, info.Size())
	}
	found, err := lister.Tar(decoded)
	return found, ratio.Decoded, err
}

// expanded limits the bytes written, in proportion to those stored.
type expanded struct {
	io.Writer
	ratio *compress.Expansion
}

func (e expanded) Write(p []byte) (int, error) {
	if err := e.ratio.Add(int64(len(p))); err != nil {
		return 0, err
	}
	return e.Writer.Write(p)
}

// addArchive adds the members of an archive with names of inputs. A named archive must have one.
func (l *list) addArchive(name string, info fs.FileInfo, named bool) error {
	c, err := l.listArchive(name, func(member string) bool { return l.means(path.Base(member)) })
	switch {
	case err != nil:
		return l.refuse(name, err)
	case c.refused != nil:
		return l.refuse(name, fmt.Errorf("archive %s: %w", name, c.refused))
	case c.isWACZ:
		return l.addFile(name, info)
	case len(c.inputs) == 0 && named:
		return fmt.Errorf("%w: no %s in archive %s%s", ErrNone, l.meant(), name, commonest(c.Others))
	}
	l.inputs = append(l.inputs, c.inputs...)
	if len(c.Others) > 0 {
		l.passed = append(l.passed, Passed{Path: name, Others: c.Others})
	}
	for _, left := range c.Left {
		l.passed = append(l.passed, Passed{Path: name + "/" + left.First, Why: "a " + left.Kind, Like: left.Count - 1})
	}
	if c.spooled > 0 {
		l.passed = append(l.passed, Passed{Path: name, Unpacked: c.spooled})
	}
	return nil
}

// commonest describes the most frequent ending of the skipped files, or returns "".
func commonest(others map[string]int) string {
	most := byNumber(others)
	if len(most) == 0 || most[0] == "" {
		return ""
	}
	return fmt.Sprintf(": it holds %d %s, readable only with --format, if at all", others[most[0]], most[0])
}

// findMember returns the member named by an argument, such as corpus.zip/news/1.txt. found is false
// if the path leads into no archive.
func (l *list) findMember(arg string) (in Input, found bool, err error) {
	for i := len(arg) - 1; i > 0; i-- {
		if !os.IsPathSeparator(arg[i]) {
			continue
		}
		name := arg[:i]
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() || !IsArchive(name) {
			break
		}
		in, err = l.member(name, filepath.ToSlash(arg[i+1:]))
		return in, true, err
	}
	return in, false, nil
}

// member finds a member of an archive. It lists each archive once.
func (l *list) member(name, member string) (Input, error) {
	c := l.listed[name]
	if c == nil {
		var err error
		folder := filepath.ToSlash(name) + "/"
		if c, err = l.listArchive(name, func(member string) bool { return l.asked == nil || l.asked[folder+member] }); err != nil {
			return Input{}, err
		}
		c.byName = make(map[string]int, len(c.inputs))
		for i, in := range slices.Backward(c.inputs) { // the first of several with one name wins
			c.byName[in.Member.Name] = i
		}
		l.listed[name] = c
	}
	i, found := c.byName[member]
	if !found {
		return Input{}, fmt.Errorf("archive %s holds no file %q: %w", name, member, fs.ErrNotExist)
	}
	in := c.inputs[i]
	if err := in.Member.Err(); err != nil {
		return Input{}, fmt.Errorf("archive %s: %w", name, err)
	}
	return in, nil
}

// Finder finds inputs by their names. It must be used by one goroutine only.
type Finder struct {
	known map[string]Input // members of archives
	list  list
}

// NewFinder returns a Finder that does not list the archives of these inputs again.
func NewFinder(inputs []Input, bounds compress.Bounds) *Finder {
	f := &Finder{known: map[string]Input{}, list: list{limits: bounds.Decoders(), listed: map[string]*contents{}}}
	for _, in := range inputs {
		if _, twice := f.known[in.Name]; in.Member != nil && !twice {
			f.known[in.Name] = in
		}
	}
	return f
}

// Find returns the file or member of an archive with a name. Anything else has the size -1.
func (f *Finder) Find(name string) (Input, error) {
	if in, ok := f.known[name]; ok {
		return in, nil
	}
	in := Input{Path: name, Name: name, Size: -1}
	info, err := os.Stat(name)
	if err != nil && name != Stdin {
		if member, found, memberErr := f.list.findMember(name); found {
			return member, memberErr
		}
		return in, err
	}
	if err == nil && info.Mode().IsRegular() {
		in.Size = info.Size()
	}
	return in, nil
}
