package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

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
