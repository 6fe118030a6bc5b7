package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/zeebo/xxh3"
)

// Read decodes a journal's description into about, unless that is nil. It returns the size of the
// file, and the length of a torn group that a crash left at its end. Groups for which Append
// returned nil are whole. each gets the groups in order, valid until it returns; if it is nil, only
// the header is read. Errors that wrap ErrDamaged or ErrVersion, also those of each, name the file
// and a remedy. Others are returned unchanged.
func (k *Kind) Read(path string, about any, each func(body []byte) error) (size, torn int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	size = info.Size()
	in := Reader{in: f, left: size}
	err = in.header(k.Magic, about)
	if err == nil && each != nil {
		torn, err = in.groups(f, size, each)
	}
	switch {
	case errors.Is(err, ErrDamaged):
		err = fmt.Errorf("reading %s: %w; put the index back from a copy, or %s", path, err, k.Remedy)
	case errors.Is(err, ErrVersion):
		err = fmt.Errorf("reading %s: %w; use that version", path, err)
	}
	return size, torn, err
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// A Reader reads a journal in its order, from a connection or from a file that still grows.
type Reader struct {
	in     io.Reader
	left   int64 // bytes that may come
	at     int64 // offset of the next group
	number uint64
	seed   uint64
	head   [headSize]byte
	body   []byte
}

// NewReader reads the header of a journal, and decodes its description into about unless that is nil.
func (k *Kind) NewReader(in io.Reader, about any) (*Reader, error) {
	r := &Reader{in: in, left: math.MaxInt64}
	return r, r.header(k.Magic, about)
}

// Offset returns where the next group begins, in bytes.
func (r *Reader) Offset() int64 { return r.at }

var errCut = damage("it is cut short")

// fill reads a part of the journal. The error at its end is errCut, or io.EOF before the first byte.
func (r *Reader) fill(b []byte) error {
	if int64(len(b)) > r.left {
		return errCut
	}
	n, err := io.ReadFull(r.in, b)
	r.left -= int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return err
}

// header reads up to the first group. It checks lengths before it allocates memory.
func (r *Reader) header(magic string, about any) error {
	header := make([]byte, prefixSize)
	if err := r.fill(header); err != nil {
		return ended(err)
	}
	if string(header[:16]) != magic {
		return damage("it does not begin with %s", magic)
	}
	le := binary.LittleEndian
	if v := le.Uint32(header[16:]); v != version {
		return fmt.Errorf("%w: it has version %d, this program reads %d", ErrVersion, v, version)
	}
	n := int64(le.Uint32(header[20:]))
	if n > mostAbout {
		return damage("a description of %d bytes is impossible", n)
	}
	if n+sumSize > r.left {
		return errCut
	}
	header = append(header, make([]byte, n+sumSize)...)
	if err := r.fill(header[prefixSize:]); err != nil {
		return ended(err)
	}
	r.at = int64(len(header))
	end := len(header) - sumSize
	if r.seed = le.Uint64(header[end:]); r.seed != xxh3.Hash(header[:end]) {
		return damage("the header does not match its checksum")
	}
	if about == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(header[prefixSize:end]))
	d.DisallowUnknownFields()
	if err := d.Decode(about); err != nil {
		return damage("its description: %v", err)
	}
	return nil
}

// ended returns the error for an end where more must come.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

// Next returns the next group, valid until the call after it, or io.EOF at the end. After an error
// there are no more groups. A group that does not have exactly the form that Append writes is
// ErrDamaged.
func (r *Reader) Next() (body []byte, err error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	if err := r.fill(r.head[:]); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	n := le.Uint64(r.head[16:])
	r.number++
	if !r.isHead(r.head[:]) || le.Uint64(r.head[8:]) != r.number || n == 0 || n > uint64(min(r.left, mostBody)) {
		return nil, damage("group %d has a wrong head", r.number)
	}
	if uint64(cap(r.body)) < n {
		r.body = make([]byte, n)
	}
	r.body = r.body[:n]
	if err := r.fill(r.body); err != nil {
		return nil, ended(err)
	}
	if xxh3.HashSeed(r.body, r.seed) != le.Uint64(r.head[24:]) {
		return nil, damage("group %d does not match its checksum", r.number)
	}
	r.at += int64(headSize + n)
	return r.body, nil
}

func (r *Reader) groups(f io.ReaderAt, size int64, each func(body []byte) error) (torn int64, err error) {
	for {
		body, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return 0, nil
		case errors.Is(err, ErrDamaged):
			return size - r.at, r.onlyTorn(f, size)
		case err == nil:
			err = each(body)
		}
		if err != nil {
			return 0, err
		}
	}
}

func (r *Reader) isHead(head []byte) bool {
	return binary.LittleEndian.Uint64(head) == xxh3.HashSeed(head[8:], r.seed)
}

// onlyTorn checks that no group follows a torn one. Append writes a group once the one before is on
// disk, so a crash leaves nothing after the group it tore.
func (r *Reader) onlyTorn(f io.ReaderAt, size int64) error {
	const window = 1 << 20
	buf := make([]byte, window+headSize)
	for at := r.at; at+headSize <= size; at += window {
		b := buf[:min(int64(len(buf)), size-at)]
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		for i := 0; i < window && i+headSize <= len(b); i++ {
			// Almost no data has a small number there, so few heads are hashed.
			if n := binary.LittleEndian.Uint64(b[i+8:]); n > r.number && n < 1<<40 && r.isHead(b[i:i+headSize]) {
				return damage("group %d differs from what was written, and later groups follow", r.number)
			}
		}
	}
	return nil
}
