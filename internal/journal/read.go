package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"
)

// Read returns a journal's header, the size of the file, and the length of a torn group that a
// crash left at its end. Groups for which Append returned nil are whole. each gets the groups in
// order, valid until it returns; if it is nil, only the header is read. Errors that wrap ErrDamaged
// or ErrVersion, also those of each, name the file and a remedy. Others are returned unchanged.
func (k *Kind) Read(path string, each func(fields, body []byte) error) (header []byte, size, torn int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	in := reader{Kind: k, r: f, size: info.Size()}
	header, err = in.header()
	if err == nil && each != nil {
		torn, err = in.groups(int64(len(header)), each)
	}
	switch {
	case errors.Is(err, ErrDamaged):
		err = fmt.Errorf("reading %s: %w; put the index back from a copy, or %s", path, err, k.Remedy)
	case errors.Is(err, ErrVersion):
		err = fmt.Errorf("reading %s: %w; use that version", path, err)
	}
	return header, info.Size(), torn, err
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

type reader struct {
	*Kind
	r    io.ReaderAt
	size int64
	seed uint64
	body []byte
}

// header checks the length before it allocates memory.
func (in *reader) header() ([]byte, error) {
	var prefix [prefixSize]byte
	if in.size < prefixSize {
		return nil, damage("it is cut short")
	}
	if _, err := in.r.ReadAt(prefix[:], 0); err != nil {
		return nil, err
	}
	if string(prefix[:16]) != in.Magic {
		return nil, damage("it does not begin with %s", in.Magic)
	}
	if v := binary.LittleEndian.Uint32(prefix[16:]); v != in.Version {
		return nil, fmt.Errorf("%w: it has version %d, this program reads %d", ErrVersion, v, in.Version)
	}
	length := in.HeaderBase + int64(binary.LittleEndian.Uint32(prefix[20:]))
	if length < in.HeaderLeast || length > in.HeaderMost || length%int64(in.Unit) != 0 {
		return nil, damage("a header of %d bytes is impossible", length)
	}
	header := make([]byte, min(length, in.size))
	if _, err := in.r.ReadAt(header, 0); err != nil {
		return nil, err
	}
	end := len(header) - sumSize
	if length > in.size || binary.LittleEndian.Uint64(header[end:]) != xxh3.Hash(header[:end]) {
		return nil, damage("the header does not match its checksum")
	}
	if in.Whole != nil && !in.Whole(header) {
		return nil, damage("the header contradicts itself")
	}
	in.seed = in.Seed(header)
	return header, nil
}

func (in *reader) groups(at int64, each func(fields, body []byte) error) (torn int64, err error) {
	head := make([]byte, in.head())
	for number := uint64(1); at < in.size; number++ {
		whole, err := in.group(at, number, head)
		if err != nil {
			return 0, err
		}
		if !whole {
			return in.size - at, in.onlyTorn(at, number)
		}
		if err := each(head[fieldsAt:fieldsAt+in.Fields], in.body); err != nil {
			return 0, err
		}
		at += int64(len(head) + len(in.body))
	}
	return 0, nil
}

// group reads the group at an offset. It is whole if it has exactly the form that Append writes.
func (in *reader) group(at int64, number uint64, head []byte) (whole bool, err error) {
	left := in.size - at - int64(len(head))
	if left < 0 {
		return false, nil
	}
	if _, err := in.r.ReadAt(head, at); err != nil {
		return false, err
	}
	le := binary.LittleEndian
	n, sum, bits := uint64(0), uint64(0), head[fieldsAt+in.Fields:]
	if in.Wide {
		n, sum = le.Uint64(bits), le.Uint64(bits[8:])
	} else {
		n, sum = uint64(le.Uint32(bits)), uint64(le.Uint32(bits[4:]))
	}
	if !in.isHead(head) || le.Uint64(head[8:]) != number || n < in.Least || n > in.Most || int64(n)*int64(in.Unit) > left {
		return false, nil
	}
	if n *= uint64(in.Unit); uint64(cap(in.body)) < n {
		in.body = make([]byte, n)
	}
	in.body = in.body[:n]
	if _, err := in.r.ReadAt(in.body, at+int64(len(head))); err != nil {
		return false, err
	}
	got := xxh3.HashSeed(in.body, in.seed)
	if !in.Wide {
		got = uint64(uint32(got))
	}
	return got == sum, nil
}

func (in *reader) isHead(head []byte) bool {
	return binary.LittleEndian.Uint64(head) == xxh3.HashSeed(head[8:], in.seed)
}

// onlyTorn checks that no group follows a torn one. Append writes a group once the one before is on
// disk, so a crash leaves nothing after the group it tore.
func (in *reader) onlyTorn(at int64, number uint64) error {
	const window = 1 << 20
	head := int64(in.head())
	buf := make([]byte, window+head)
	for at += int64(in.Unit); at+head <= in.size; at += window {
		b := buf[:min(int64(len(buf)), in.size-at)]
		if _, err := in.r.ReadAt(b, at); err != nil {
			return err
		}
		for i := int64(0); i < window && i+head <= int64(len(b)); i += int64(in.Unit) {
			// Almost no data has a small number there, so few heads are hashed.
			if n := binary.LittleEndian.Uint64(b[i+8:]); n > number && n < 1<<40 && in.isHead(b[i:i+head]) {
				return damage("group %d differs from what was written, and later groups follow", number)
			}
		}
	}
	return nil
}
