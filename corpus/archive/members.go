package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// Zip lists a zip archive of size bytes.
func (l Lister) Zip(r io.ReaderAt, size int64) (*Contents, error) {
	list := &listing{Lister: l}
	if n := zipEntries(r, size); n > MaxMembers {
		return nil, fmt.Errorf("it is not a zip archive, is cut off, or has more than %d members", MaxMembers)
	}
	z, err := zip.NewReader(r, size)
	switch {
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it is not a zip archive, or the list of members at its end is damaged")
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // names are cleaned later
		return nil, err
	}
	allUTF8 := true // even names without the flag: one tool wrote them all
	left := uint64(size)
	for _, f := range z.File {
		allUTF8 = allUTF8 && utf8.ValidString(f.Name)
		if f.CompressedSize64 > left {
			return nil, errors.New("its members together are larger than the archive: they overlap, or it is cut off")
		}
		left -= f.CompressedSize64
	}
	for _, f := range z.File {
		if err := list.zip(f, zipName(f, allUTF8), size); err != nil {
			return nil, err
		}
	}
	return &list.Contents, nil
}

// Flags of a member (APPNOTE.TXT 4.4.4): bit 11 for a name in UTF-8, bit 0 for encryption.
const (
	utf8Flag      = 1 << 11
	encryptedFlag = 1 << 0
)

// zipName returns the name of a member before cleaning.
func zipName(f *zip.File, allUTF8 bool) string {
	name := unicodePath(f.Extra, f.Name)
	if name == "" {
		name = decode(f.Name, allUTF8 || f.Flags&utf8Flag != 0 && utf8.ValidString(f.Name))
	}
	return strings.ReplaceAll(name, `\`, "/") // zip has no other separator
}

func (l *listing) zip(f *zip.File, raw string, size int64) error {
	if strings.HasSuffix(raw, "/") {
		return l.entry("")
	}
	kind := ""
	if mode := f.Mode(); mode&fs.ModeSymlink != 0 {
		kind = kindLink
	} else if !mode.IsRegular() {
		kind = kindNone
	}
	name, ok, err := l.take(raw, kind)
	if err != nil || !ok {
		return err
	}
	m := Member{Name: name, Size: int64(f.UncompressedSize64), stored: int64(f.CompressedSize64), sum: f.CRC32, how: zipStored}
	switch {
	case f.Flags&encryptedFlag != 0:
		m.how = zipEncrypted
	case f.Method == zip.Deflate:
		m.how = zipDeflated
	case f.Method != zip.Store:
		m.how, m.sum = zipOther, uint32(f.Method)
	}
	if m.at, err = f.DataOffset(); err != nil || m.Size < 0 || m.at > size-m.stored {
		return fmt.Errorf("it is cut off or damaged: its member %q is not in its place", name)
	}
	l.Members = append(l.Members, m)
	return nil
}

// Err returns the reason why a member cannot be read, or nil.
func (m *Member) Err() error {
	switch m.how {
	case zipEncrypted:
		return fmt.Errorf("its member %q is encrypted: unpack it first, with its password", m.Name)
	case zipOther:
		return fmt.Errorf("its member %q is compressed with %s, and only deflate is supported: unpack it first", m.Name, cmp.Or(methodNames[m.sum], fmt.Sprintf("method %d", m.sum)))
	}
	return nil
}

// methodNames maps compression methods to their names (APPNOTE.TXT 4.4.5).
var methodNames = map[uint32]string{
	9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "zstd", 95: "xz", 99: "an encrypted method",
}

// zipEntries returns the number of files in a zip archive, by the record at its end (APPNOTE.TXT
// 4.3.14 to 4.3.16). Without a record it is impossibly large. Of several it uses the last that can
// be complete, as archive/zip does: any later signature is part of its comment.
func zipEntries(r io.ReaderAt, size int64) uint64 {
	const endSize, locatorSize, end64Size = 22, 20, 56
	tail := make([]byte, min(size, locatorSize+endSize+1<<16))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return 1 << 63
	}
	i := bytes.LastIndex(tail[:max(0, len(tail)-endSize+4)], []byte("PK\x05\x06"))
	if i < 0 {
		return 1 << 63
	}
	end := tail[i:]
	n, at := binary.LittleEndian.Uint16(end[10:]), binary.LittleEndian.Uint32(end[16:])
	isZip64 := n == 1<<16-1 || at == 1<<32-1 || binary.LittleEndian.Uint32(end[12:]) == 1<<16-1
	if !isZip64 || i < locatorSize || !bytes.HasPrefix(tail[i-locatorSize:], []byte("PK\x06\x07\x00\x00\x00\x00")) {
		return uint64(n)
	}
	end64 := make([]byte, end64Size)
	if _, err := r.ReadAt(end64, int64(binary.LittleEndian.Uint64(tail[i-locatorSize+8:]))); err != nil {
		return 1 << 63
	}
	return binary.LittleEndian.Uint64(end64[32:])
}

// checked reads the content of a zip member, and verifies its length and checksum at the end.
type checked struct {
	r    io.Reader
	back *sync.Pool // receives r at the end
	sum  hash.Hash32
	left int64
	want uint32
	err  error
}

// inflaters are reused: each takes 40 KiB, and members may be small.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

func newChecked(m *Member, stored io.Reader) *checked {
	c := &checked{r: stored, sum: crc32.NewIEEE(), left: m.Size, want: m.sum, err: m.Err()}
	if m.how == zipDeflated {
		inflater := inflaters.Get()
		_ = inflater.(flate.Resetter).Reset(stored, nil) // never fails
		c.r, c.back = inflater.(io.Reader), &inflaters
	}
	return c
}

func (c *checked) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	_, _ = c.sum.Write(p[:n]) // never fails
	c.left -= int64(n)
	switch {
	case c.left < 0, err == io.EOF && c.left > 0:
		err = errors.New("it is damaged: the archive gives another length for it")
	case err == io.EOF && c.want != 0 && c.sum.Sum32() != c.want: // some tools write 0
		err = errors.New("it is damaged: its checksum does not match")
	}
	if c.err = err; err != nil && c.back != nil {
		c.back.Put(c.r)
		c.r, c.back = nil, nil
	}
	return n, err
}

// Tar lists a tar archive. If r is an [io.Seeker], it must be at its start. Wanted members other
// than sparse files are then read in place later. All other wanted members are copied to the spool.
// Concatenated archives are read as one, as by tar -i.
func (l Lister) Tar(r io.Reader) (*Contents, error) {
	list := &listing{Lister: l}
	t := &tape{r: r}
	t.seeker, _ = r.(io.Seeker)
	for more := true; more; {
		err := list.tar(t)
		if err == nil {
			more, err = t.another()
		}
		if err != nil {
			return nil, err
		}
	}
	return &list.Contents, nil
}

// tar lists the archive at the current offset of the tape.
func (l *listing) tar(t *tape) error {
	begin, last := t.at, ""
	l.end = begin
	tr := tar.NewReader(t)
	for {
		h, err := tr.Next()
		switch {
		case err == io.EOF && (t.zeros < blockSize || t.at < l.end+blockSize):
			return fmt.Errorf("%w: the zeros at its end are missing; if it is complete, append them, as truncate -s +1024 does", errCutOff)
		case err == io.EOF:
			return nil
		case (errors.Is(err, io.ErrUnexpectedEOF) || err == errCutOff) && last == "":
			return errCutOff
		case errors.Is(err, io.ErrUnexpectedEOF), err == errCutOff:
			return fmt.Errorf("%w, in or after its member %q", errCutOff, last)
		case errors.Is(err, tar.ErrHeader) && last == "" && begin == 0:
			return errors.New("it is not a tar archive, or its beginning is damaged")
		case errors.Is(err, tar.ErrHeader) && last == "":
			return fmt.Errorf("the data after the end of the archive, at byte %d, is not another archive", begin)
		case errors.Is(err, tar.ErrHeader):
			return fmt.Errorf("it is damaged after its member %q, before byte %d", last, t.at)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are cleaned later
			return err
		}
		l.end = t.at
		last = decode(h.Name, utf8.ValidString(h.Name))
		if err := l.header(t, tr, h, last); err != nil {
			return err
		}
	}
}

// header adds the member of a header.
func (l *listing) header(t *tape, tr *tar.Reader, h *tar.Header, name string) error {
	kind := ""
	switch h.Typeflag {
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return l.entry("")
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
	case tar.TypeSymlink:
		kind = kindLink
	case tar.TypeLink:
		kind = "hard link to another member"
	default:
		kind = kindNone
	}
	if kind == "" && !isSparse(h) { // otherwise the stored length is unknown
		l.end += h.Size
	}
	name, ok, err := l.take(name, kind)
	if err != nil || !ok {
		return err
	}
	m := Member{Name: name, Size: h.Size, at: t.at, stored: h.Size}
	if t.seeker == nil || isSparse(h) {
		if err := l.spoolMember(&m, tr); err != nil {
			return fmt.Errorf("member %q: %w", name, err)
		}
		l.end = t.at
	}
	l.Members = append(l.Members, m)
	return nil
}

// isSparse reports whether a file is stored without its holes.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

func (l *listing) spoolMember(m *Member, content io.Reader) error {
	spool, err := l.Spool()
	if err != nil {
		return err
	}
	m.how, m.at = spooled, l.spooled
	n, err := io.Copy(spool, content)
	l.spooled += n
	if errors.Is(err, io.ErrUnexpectedEOF) || err == nil && n != m.Size {
		err = errCutOff
	}
	return err
}

const blockSize = 512

// tape reads an archive for a tar.Reader. It counts the bytes read, and the zeros at their end.
type tape struct {
	r      io.Reader
	seeker io.Seeker
	at     int64
	zeros  int64
	back   []byte // to be read again
}

func (t *tape) Read(p []byte) (n int, err error) {
	if len(t.back) > 0 {
		n = copy(p, t.back)
		t.back = t.back[n:]
	} else {
		n, err = t.r.Read(p)
	}
	if err == io.ErrUnexpectedEOF { // from a decompressor; io.ReadFull would hide it
		err = errCutOff
	}
	t.at += int64(n)
	if content := len(bytes.TrimRight(p[:n], "\x00")); content > 0 {
		t.zeros = int64(n - content)
	} else {
		t.zeros += int64(n)
	}
	return n, err
}

// Seek lets archive/tar skip contents, if possible.
func (t *tape) Seek(offset int64, whence int) (int64, error) {
	if t.seeker == nil || len(t.back) > 0 {
		return 0, errors.ErrUnsupported
	}
	at, err := t.seeker.Seek(offset, whence)
	if err == nil && at != t.at {
		t.at, t.zeros = at, 0
	}
	return at, err
}

// another skips zeros at the end of an archive, and reports whether one follows.
func (t *tape) another() (more bool, err error) {
	var block [blockSize]byte
	for {
		n, err := io.ReadFull(t, block[:])
		switch {
		case len(bytes.TrimRight(block[:n], "\x00")) > 0:
			t.back, t.at = block[:n], t.at-int64(n)
			return true, nil
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			return false, nil
		case err != nil:
			return false, err
		}
	}
}
