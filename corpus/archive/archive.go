// Package archive lists the files in a tar or zip archive, with the place of their bytes. It
// creates no files and follows no links: a name is only a name.
//
//	l := archive.Lister{Want: func(name string) bool { return path.Ext(name) == ".jsonl" }}
//	contents, err := l.Zip(file, size)
//	for i := range contents.Members {
//		r, err := contents.Members[i].Open(file)
//		...
//	}
//
// It reads all tar formats of archive/tar (v7, ustar, PAX, GNU, sparse files). In zip it reads
// stored and deflated members, and zip64 sizes (APPNOTE.TXT 6.3.10).
//
// For any bytes, it promises:
//
//   - Names are relative, in UTF-8, with slashes, without "." and "..", and without control
//     characters. Joined to a folder, they stay inside.
//   - A truncated or damaged archive, or one with overlapping members, is a clear error. So is
//     reading an encrypted member, or an unknown compression; Err reports this in advance.
//   - A member takes some 200 bytes of memory, for at most MaxMembers members. Listing a zip
//     archive takes 512 for each file.
package archive

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// MaxMembers is the maximum number of members in an archive, since the list is in memory.
const MaxMembers = 2 << 20

// maxNames is the maximum total length of their names in bytes.
const maxNames = 256 << 20

// Member is a file of an archive.
type Member struct {
	Name   string // see the package documentation
	Size   int64  // length of the content in bytes
	at     int64  // offset of the stored bytes in the archive, or in the spool if spooled
	stored int64
	sum    uint32 // CRC-32 of a zip member's content, but see zipOther
	how    method
}

// method is the way a member's content is stored.
type method uint8

const (
	asItIs method = iota // in a tar archive
	spooled
	zipStored
	zipDeflated
	zipEncrypted // cannot be read
	zipOther     // cannot be read either; sum holds the compression method
)

// Open returns a reader of the member's content. archive must be the spool if the member is
// Spooled. A zip member with a different length or checksum returns an error at its end.
func (m *Member) Open(archive io.ReaderAt) io.Reader {
	stored := m.Stored(archive)
	if m.Checked() {
		return newChecked(m, stored)
	}
	return stored
}

// Stored returns the stored bytes of a member; they are its content if it is Plain.
func (m *Member) Stored(archive io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(archive, m.at, m.stored)
}

// Plain reports whether the content is stored uncompressed.
func (m *Member) Plain() bool { return m.how < zipDeflated }

// Checked reports whether the content has a checksum.
func (m *Member) Checked() bool { return m.how >= zipStored }

// Spooled reports whether the content is in the spool.
func (m *Member) Spooled() bool { return m.how == spooled }

// At returns the offset of the stored bytes, in the archive or in the spool.
func (m *Member) At() int64 { return m.at }

// Contents lists the files of an archive.
type Contents struct {
	Members []Member       // wanted files, in the order of the archive
	Others  map[string]int // number of unwanted files for each ending of their names
	Left    []Left         // entries with a wanted name that are not readable files
}

// Left counts entries of one kind.
type Left struct {
	Kind  string // such as "symbolic link"
	Count int
	First string // name of the first one, printable
}

// Lister lists archives.
type Lister struct {
	// Want reports whether the named file should be read.
	Want func(name string) bool
	// Spool returns the destination of wanted tar members that cannot be read in place. It is the
	// same for all of them, and must have no other writer.
	Spool func() (io.Writer, error)
}

// listing is the state of a Lister for one archive.
type listing struct {
	Lister
	Contents
	spooled int64
	end     int64 // in a tar archive, end of the last member's contents without padding, or earlier
	entries int
	names   int
}

// entry counts an entry of any kind, with its cleaned name.
func (l *listing) entry(name string) error {
	l.entries++
	l.names += len(name)
	if l.entries > MaxMembers || l.names > maxNames {
		return fmt.Errorf("it has more than %d members, or names of more than %d MiB: unpack it first", MaxMembers, maxNames>>20)
	}
	return nil
}

// take returns the clean name of an entry, and whether to read it. kind is "" for a regular file.
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
	// macOS stores the metadata of other files in additional members.
	if kind = cmp.Or(kind, nameless); kind == "" && strings.HasPrefix(name, "__MACOSX/") {
		kind = kindFork
	}
	if kind != "" {
		l.leave(kind, name)
	}
	return name, kind == "", nil
}

// leave counts an entry that is not a file to read.
func (l *listing) leave(kind, name string) {
	if i := slices.IndexFunc(l.Left, func(left Left) bool { return left.Kind == kind }); i >= 0 {
		l.Left[i].Count++
		return
	}
	l.Left = append(l.Left, Left{Kind: kind, Count: 1, First: Printable(name)})
}

// Kinds of entries left out, in addition to those of tar.
const (
	kindName    = "member with an unusable name"
	kindControl = "member with control characters in its name"
	kindFork    = "macOS resource fork"
	kindLink    = "symbolic link"
	kindNone    = "device, named pipe or the like"
)

var errCutOff = errors.New("the archive is cut off")

// maxName is the longest name in bytes: the longest path on systems that create archives.
const maxName = 4096

// clean turns a member name into a path on one line that stays below any folder it is joined to.
// For other names it returns the kind.
func clean(name string) (_, kind string) {
	if len(name) > maxName {
		return name[:maxName], kindName
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return name, kindControl
	}
	name = path.Clean("/" + name)[1:]
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return name, kindName
	}
	return name, ""
}

// Printable replaces control characters in a name, which a terminal would obey.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, name)
}

// decode converts a name to UTF-8. Invalid UTF-8 most likely comes from a Chinese Windows, in GBK,
// a subset of GB18030. Other names use the encoding of DOS (APPNOTE.TXT, appendix D).
func decode(name string, isUTF8 bool) string {
	if isUTF8 {
		return name
	}
	if text, err := simplifiedchinese.GB18030.NewDecoder().String(name); err == nil && !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	text, _ := charmap.CodePage437.NewDecoder().String(name) // it maps every byte
	return text
}

// unicodePath returns the name in the "Info-ZIP Unicode Path" field (APPNOTE.TXT 4.6.9), or "" if
// the field does not match the member's name.
func unicodePath(extra []byte, name string) string {
	const id, head = 0x7075, 5 // head is the size of version and checksum
	for len(extra) >= 4 {
		tag, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if size > len(extra) {
			return ""
		}
		field := extra[:size]
		extra = extra[size:]
		if tag == id && size > head && field[0] == 1 && binary.LittleEndian.Uint32(field[1:]) == crc32.ChecksumIEEE([]byte(name)) && utf8.Valid(field[head:]) {
			return string(field[head:])
		}
	}
	return ""
}
