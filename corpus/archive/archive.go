// Package archive lists the files that a tar or zip archive holds, and the place of their bytes in
// the archive. It unpacks nothing to a place, and follows nothing: a name is only a name.
//
//	l := archive.Lister{Want: func(name string) bool { return path.Ext(name) == ".jsonl" }}
//	contents, err := l.Zip(file, size)
//	for i := range contents.Members {
//		r, err := contents.Members[i].Open(file)
//		...
//	}
//
// Tar is read in all forms that archive/tar knows (v7, ustar, PAX, GNU, sparse files), zip
// with stored and deflated members, and with the sizes of zip64 (APPNOTE.TXT 6.3.10).
//
// It promises, for any bytes:
//
//   - Names are relative, in UTF-8, with slashes, without "." and "..", and without control
//     characters. Joined to a folder they lead nowhere outside.
//   - A truncated or damaged archive, or one with overlapping members, is an error that says so. So
//     is reading an encrypted member, or one compressed by another method: its Err says so before.
//   - It takes some 200 bytes of memory for a member, at most MaxMembers members. The listing of a
//     zip archive takes 512 for each file.
package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// MaxMembers is how many members an archive may have: the list is in memory.
const MaxMembers = 2 << 20

// maxNames is how many bytes their names may have, all together.
const maxNames = 256 << 20

// Member is a file of an archive.
type Member struct {
	Name   string // see the promises of the package
	Size   int64  // bytes of its content
	at     int64  // the offset of its stored bytes: in the archive or, if it is spooled, in the spool
	stored int64
	sum    uint32 // CRC-32 of the content, in a zip archive, but see zipOther
	how    method
}

// method is how the content of a member is stored.
type method uint8

const (
	asItIs method = iota // in a tar archive
	spooled
	zipStored
	zipDeflated
	zipEncrypted // and so it cannot be read
	zipOther     // by the method that stands in place of the checksum: not either
)

// Open returns a reader of the member's content from its beginning, given the archive, or the spool
// if the member is Spooled. At the end of a zip member, a different length or checksum is an error.
func (m *Member) Open(archive io.ReaderAt) io.Reader {
	stored := m.Stored(archive)
	if m.Checked() {
		return newChecked(m, stored)
	}
	return stored
}

// Stored is the bytes of a member as they are stored; they are its content if it is Plain.
func (m *Member) Stored(archive io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(archive, m.at, m.stored)
}

// Plain reports whether the content is stored as it is, without a compression.
func (m *Member) Plain() bool { return m.how < zipDeflated }

// Checked reports whether there is a checksum of the content.
func (m *Member) Checked() bool { return m.how >= zipStored }

// Spooled reports whether the content is in the spool.
func (m *Member) Spooled() bool { return m.how == spooled }

// At returns the offset of its stored bytes, in the archive or in the spool.
func (m *Member) At() int64 { return m.at }

// Contents is the list of an archive's files.
type Contents struct {
	Members []Member       // the wanted members, in the order of the archive
	Others  map[string]int // how many files are not wanted, by the endings of their names
	Left    []Left         // entries with a wanted name that are no readable file
}

// Left are things of one kind.
type Left struct {
	Kind  string // such as "symbolic link"
	Count int
	First string // the name of the first, as it is printed
}

// A Lister lists archives.
type Lister struct {
	// Want reports whether the file of a name shall be read.
	Want func(name string) bool
	// Spool returns the destination for a wanted member of a tar archive that cannot be read in
	// place. It is the same for all, and nothing else writes to it.
	Spool func() (io.Writer, error)
}

// listing is a list being made.
type listing struct {
	Lister
	Contents
	spooled int64
	end     int64 // in a tar archive: the end of the last member's contents, without padding, or a place before that
	entries int
	names   int
}

// entry counts an entry of the archive, which may be of any kind, with its cleaned name.
func (l *listing) entry(name string) error {
	l.entries++
	l.names += len(name)
	if l.entries > MaxMembers || l.names > maxNames {
		return fmt.Errorf("it has more than %d members, or names of more than %d MiB: unpack it first", MaxMembers, maxNames>>20)
	}
	return nil
}

// take reports whether an entry is a file to be read, and returns its cleaned name. kind is that of
// an entry of another kind, or "".
func (l *listing) take(raw, kind string) (name string, ok bool, err error) {
	name, nameless := clean(raw)
	if err := l.entry(name); err != nil {
		return name, false, err
	}
	if !l.Want(name) {
		if l.Others == nil {
			l.Others = map[string]int{}
		}
		l.Others[Printable(path.Ext(name))]++
		return name, false, nil
	}
	// macOS adds members for other files, to hold their metadata.
	if kind = cmp.Or(kind, nameless); kind == "" && strings.HasPrefix(name, "__MACOSX/") {
		kind = kindFork
	}
	if kind != "" {
		l.leave(kind, name)
	}
	return name, kind == "", nil
}

// leave counts an entry that is no file to be read.
func (l *listing) leave(kind, name string) {
	if i := slices.IndexFunc(l.Left, func(left Left) bool { return left.Kind == kind }); i >= 0 {
		l.Left[i].Count++
		return
	}
	l.Left = append(l.Left, Left{Kind: kind, Count: 1, First: Printable(name)})
}

// Kinds of entries left out, beside those of tar.
const (
	kindName    = "member whose name leads nowhere"
	kindControl = "member whose name has control characters"
	kindFork    = "resource fork of macOS"
	kindLink    = "symbolic link"
	kindNone    = "device, named pipe or other thing that is no file"
)

var errCutOff = errors.New("the archive is cut off")
