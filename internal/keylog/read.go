package keylog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"
)

// ReadHeader reads and checks the header of a log.
func ReadHeader(path string) (Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close() // only read from
	h, _, err := decodeHeader(f)
	if err != nil {
		return h, explain(path, err)
	}
	return h, nil
}

// Read gives the groups of a log to each, in order; their keys are valid until it returns. torn is
// how many bytes at the end are no whole group, left by a crash during their writing. No group is
// lost with them for which Append has returned nil. An error of each is returned as it is. Others
// wrap ErrDamaged or ErrVersion, or come from reading the file.
func Read(path string, each func(Group) error) (h Header, size, torn int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, 0, 0, err
	}
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return h, 0, 0, err
	}
	h, torn, err = readGroups(f, info.Size(), each)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrVersion) {
		err = explain(path, err)
	}
	return h, info.Size(), torn, err
}

func explain(path string, err error) error {
	return fmt.Errorf("reading %s: %w; put the index back from a copy, or remove this file: then the documents kept in that time will be kept again", path, err)
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

func readGroups(r io.ReaderAt, size int64, each func(Group) error) (h Header, torn int64, err error) {
	h, at, err := decodeHeader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return h, 0, err
	}
	in := reader{r: r, size: size, seed: seedOf(h.Token)}
	for number := uint64(1); at < size; number++ {
		g, end, whole, err := in.group(at, number)
		if err != nil {
			return h, 0, err
		}
		if !whole {
			if err := in.onlyTorn(at, number); err != nil {
				return h, 0, err
			}
			return h, size - at, nil
		}
		if err := each(g); err != nil {
			return h, 0, err
		}
		at = end
	}
	return h, 0, nil
}

// decodeHeader checks everything before it allocates memory.
func decodeHeader(r io.Reader) (h Header, size int64, err error) {
	var prefix [prefixSize]byte
	if err := readFull(r, prefix[:]); err != nil {
		return h, 0, err
	}
	le := binary.LittleEndian
	if string(prefix[:16]) != magic {
		return h, 0, damage("it does not begin like a log of keys")
	}
	if v := le.Uint32(prefix[16:]); v != version {
		return h, 0, fmt.Errorf("%w: version %d, known is %d", ErrVersion, v, version)
	}
	length := le.Uint32(prefix[20:])
	if length < fixedSize+sumSize || length > maxHeader || length%8 != 0 {
		return h, 0, damage("a header of %d bytes cannot be", length)
	}
	// The length is not checked yet: memory grows only with the data present.
	b, err := io.ReadAll(io.LimitReader(r, int64(length)-prefixSize))
	if err != nil {
		return h, 0, err
	}
	b = append(prefix[:], b...)
	end := len(b) - sumSize
	if len(b) != int(length) || le.Uint64(b[end:]) != xxh3.Hash(b[:end]) {
		return h, 0, damage("the header does not match its checksum")
	}
	h, err = parseHeader(b[:end])
	return h, int64(length), err
}

func parseHeader(b []byte) (h Header, err error) {
	le := binary.LittleEndian
	scheme, note := uint64(le.Uint32(b[76:])), uint64(le.Uint32(b[80:]))
	used := fixedSize + scheme + note
	if used > uint64(len(b)) || used+7 < uint64(len(b)) || le.Uint32(b[84:]) != 0 {
		return h, damage("the header contradicts itself")
	}
	h = Header{
		Generation: le.Uint64(b[24:]), Bits: le.Uint64(b[64:]), Hashes: le.Uint32(b[72:]),
		Scheme: string(b[fixedSize : fixedSize+scheme]), Note: b[fixedSize+scheme : used : used],
	}
	copy(h.Token[:], b[32:])
	copy(h.Before[:], b[48:])
	return h, nil
}

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damage("it is cut short")
	}
	return err
}

// reader reads groups. Its buffer is used again.
type reader struct {
	r    io.ReaderAt
	size int64
	seed uint64
	head [groupHead]byte
	keys []uint64
}

// group reads the group that should begin at the offset at. It is not whole if anything differs
// from the form that Append writes.
func (in *reader) group(at int64, number uint64) (g Group, end int64, whole bool, err error) {
	if in.size-at < groupHead {
		return g, 0, false, nil
	}
	if _, err := in.r.ReadAt(in.head[:], at); err != nil {
		return g, 0, false, err
	}
	le := binary.LittleEndian
	n := int64(le.Uint32(in.head[32:]))
	end = at + groupHead + 8*n
	if !in.isHead(in.head[:]) || le.Uint64(in.head[8:]) != number || n > MaxKeys || end > in.size {
		return g, 0, false, nil
	}
	if int64(cap(in.keys)) < n {
		in.keys = make([]uint64, n)
	}
	in.keys = in.keys[:n]
	if n > 0 {
		if _, err := in.r.ReadAt(asBytes(in.keys), at+groupHead); err != nil {
			return g, 0, false, err
		}
	}
	if uint32(xxh3.HashSeed(asBytes(in.keys), in.seed)) != le.Uint32(in.head[36:]) {
		return g, 0, false, nil
	}
	fromLittle(in.keys)
	return Group{Documents: le.Uint64(in.head[16:]), Time: int64(le.Uint64(in.head[24:])), Keys: in.keys}, end, true, nil
}

func (in *reader) isHead(b []byte) bool {
	return binary.LittleEndian.Uint64(b) == xxh3.HashSeed(b[8:groupHead], in.seed)
}

// onlyTorn checks that no later group follows an incomplete one. Groups are written one after the
// other, each when the one before is on the disk. So a crash leaves nothing behind the group it has
// torn.
func (in *reader) onlyTorn(at int64, number uint64) error {
	const window = 1 << 20
	buf := make([]byte, window+groupHead)
	for at += 8; at+groupHead <= in.size; at += window {
		b := buf[:min(int64(len(buf)), in.size-at)]
		if _, err := in.r.ReadAt(b, at); err != nil {
			return err
		}
		for i := 0; i < window && i+groupHead <= len(b); i += 8 {
			if in.isHead(b[i:i+groupHead]) && binary.LittleEndian.Uint64(b[i+8:]) > number {
				return damage("group %d is not as it was written, and there are later ones", number)
			}
		}
	}
	return nil
}
