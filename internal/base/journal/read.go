package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	in := reader{r: f, size: info.Size()}
	at, err := in.header(k.Magic, about)
	if err == nil && each != nil {
		torn, err = in.groups(at, each)
	}
	switch {
	case errors.Is(err, ErrDamaged):
		err = fmt.Errorf("reading %s: %w; put the index back from a copy, or %s", path, err, k.Remedy)
	case errors.Is(err, ErrVersion):
		err = fmt.Errorf("reading %s: %w; use that version", path, err)
	}
	return in.size, torn, err
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

type reader struct {
	r    io.ReaderAt
	size int64
	seed uint64
	body []byte
}

// header returns the length of the header. It checks lengths before it allocates memory.
func (in *reader) header(magic string, about any) (length int64, err error) {
	var prefix [prefixSize]byte
	if in.size < prefixSize {
		return 0, damage("it is cut short")
	}
	if _, err := in.r.ReadAt(prefix[:], 0); err != nil {
		return 0, err
	}
	if string(prefix[:16]) != magic {
		return 0, damage("it does not begin with %s", magic)
	}
	le := binary.LittleEndian
	if v := le.Uint32(prefix[16:]); v != version {
		return 0, fmt.Errorf("%w: it has version %d, this program reads %d", ErrVersion, v, version)
	}
	n := int64(le.Uint32(prefix[20:]))
	length = prefixSize + n + sumSize
	if n > mostAbout {
		return 0, damage("a description of %d bytes is impossible", n)
	}
	header := make([]byte, min(length, in.size))
	if _, err := in.r.ReadAt(header, 0); err != nil {
		return 0, err
	}
	end := len(header) - sumSize
	if in.seed = le.Uint64(header[end:]); length > in.size || in.seed != xxh3.Hash(header[:end]) {
		return 0, damage("the header does not match its checksum")
	}
	if about == nil {
		return length, nil
	}
	d := json.NewDecoder(bytes.NewReader(header[prefixSize:end]))
	d.DisallowUnknownFields()
	if err := d.Decode(about); err != nil {
		return 0, damage("its description: %v", err)
	}
	return length, nil
}

func (in *reader) groups(at int64, each func(body []byte) error) (torn int64, err error) {
	var head [headSize]byte
	for number := uint64(1); at < in.size; number++ {
		whole, err := in.group(at, number, head[:])
		if err != nil {
			return 0, err
		}
		if !whole {
			return in.size - at, in.onlyTorn(at, number)
		}
		if err := each(in.body); err != nil {
			return 0, err
		}
		at += int64(len(head) + len(in.body))
	}
	return 0, nil
}

// group reads the group at an offset. It is whole if it has exactly the form that Append writes.
func (in *reader) group(at int64, number uint64, head []byte) (whole bool, err error) {
	left := in.size - at - headSize
	if left < 0 {
		return false, nil
	}
	if _, err := in.r.ReadAt(head, at); err != nil {
		return false, err
	}
	le := binary.LittleEndian
	n := le.Uint64(head[16:])
	if !in.isHead(head) || le.Uint64(head[8:]) != number || n == 0 || n > uint64(min(left, mostBody)) {
		return false, nil
	}
	if uint64(cap(in.body)) < n {
		in.body = make([]byte, n)
	}
	in.body = in.body[:n]
	if _, err := in.r.ReadAt(in.body, at+headSize); err != nil {
		return false, err
	}
	return xxh3.HashSeed(in.body, in.seed) == le.Uint64(head[24:]), nil
}

func (in *reader) isHead(head []byte) bool {
	return binary.LittleEndian.Uint64(head) == xxh3.HashSeed(head[8:], in.seed)
}

// onlyTorn checks that no group follows a torn one. Append writes a group once the one before is on
// disk, so a crash leaves nothing after the group it tore.
func (in *reader) onlyTorn(at int64, number uint64) error {
	const window = 1 << 20
	buf := make([]byte, window+headSize)
	for ; at+headSize <= in.size; at += window {
		b := buf[:min(int64(len(buf)), in.size-at)]
		if _, err := in.r.ReadAt(b, at); err != nil {
			return err
		}
		for i := 0; i < window && i+headSize <= len(b); i++ {
			// Almost no data has a small number there, so few heads are hashed.
			if n := binary.LittleEndian.Uint64(b[i+8:]); n > number && n < 1<<40 && in.isHead(b[i:i+headSize]) {
				return damage("group %d differs from what was written, and later groups follow", number)
			}
		}
	}
	return nil
}
