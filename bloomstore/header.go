package bloomstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

const (
	magic   = "firstseen.filter"
	version = 1

	prefixSize = 24 // magic, version, length of the header
	fixedSize  = 64 // header before scheme and stamp
	sumSize    = 8
	pageSize   = 4096
	maxStamp   = 64 << 10
	maxHeader  = (fixedSize + maxScheme + maxStamp + sumSize + pageSize - 1) &^ (pageSize - 1)
)

// Header holds the fields of a saved filter that precede its bits.
type Header struct {
	Version int
	Shape   Shape
	Scheme  string
	Items   uint64 // keys added, repeats included
	Ones    uint64 // one bits
	Stamp   []byte // as given to Save
}

func (h *Header) size() int {
	n := fixedSize + len(h.Scheme) + len(h.Stamp) + sumSize
	return (n + pageSize - 1) &^ (pageSize - 1)
}

func (h *Header) fileSize() uint64 { return uint64(h.size()) + h.Shape.Bytes() + sumSize }

func (h *Header) encode() []byte {
	b := make([]byte, h.size())
	copy(b, magic)
	le := binary.LittleEndian
	le.PutUint32(b[16:], version)
	le.PutUint32(b[20:], uint32(len(b)))
	le.PutUint64(b[24:], h.Shape.Bits)
	le.PutUint32(b[32:], uint32(h.Shape.Hashes))
	le.PutUint32(b[36:], uint32(len(h.Scheme)))
	le.PutUint32(b[40:], uint32(len(h.Stamp)))
	le.PutUint64(b[48:], h.Items)
	le.PutUint64(b[56:], h.Ones)
	copy(b[fixedSize:], h.Scheme)
	copy(b[fixedSize+len(h.Scheme):], h.Stamp)
	end := len(b) - sumSize
	le.PutUint64(b[end:], xxh3.Hash(b[:end]))
	return b
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// decodeHeader reads and checks the header of a file of the given size. It takes no more
// memory than the longest header has, and only after the beginning was found in order.
func decodeHeader(r io.Reader, fileSize uint64) (Header, error) {
	var prefix [prefixSize]byte
	if err := readFull(r, prefix[:]); err != nil {
		return Header{}, err
	}
	le := binary.LittleEndian
	if string(prefix[:16]) != magic {
		return Header{}, damage("it does not begin like a filter")
	}
	if v := le.Uint32(prefix[16:]); v != version {
		return Header{}, fmt.Errorf("%w: version %d, known is %d", ErrVersion, v, version)
	}
	size := le.Uint32(prefix[20:])
	if size < pageSize || size > maxHeader || size%pageSize != 0 {
		return Header{}, damage("a header of %d bytes cannot be", size)
	}
	b := make([]byte, size)
	copy(b, prefix[:])
	if err := readFull(r, b[prefixSize:]); err != nil {
		return Header{}, err
	}
	end := len(b) - sumSize
	if le.Uint64(b[end:]) != xxh3.Hash(b[:end]) {
		return Header{}, damage("the header does not match its checksum")
	}
	h, err := parseHeader(b)
	if want := h.fileSize(); err == nil && fileSize != want {
		return Header{}, damage("it has %d bytes and should have %d", fileSize, want)
	}
	return h, err
}

// parseHeader decodes a header whose checksum is right. It still checks every field: a checksum
// does not prove the author.
func parseHeader(b []byte) (Header, error) {
	le := binary.LittleEndian
	scheme, stamp := uint64(le.Uint32(b[36:])), uint64(le.Uint32(b[40:]))
	end := uint64(len(b) - sumSize)
	if scheme > maxScheme || stamp > maxStamp || fixedSize+scheme+stamp > end {
		return Header{}, damage("names of %d and %d bytes do not fit the header", scheme, stamp)
	}
	h := Header{
		Version: version,
		Shape:   Shape{Bits: le.Uint64(b[24:]), Hashes: int(min(le.Uint32(b[32:]), maxHashes+1))},
		Scheme:  string(b[fixedSize : fixedSize+scheme]),
		Items:   le.Uint64(b[48:]),
		Ones:    le.Uint64(b[56:]),
		Stamp:   b[fixedSize+scheme : fixedSize+scheme+stamp : fixedSize+scheme+stamp],
	}
	if err := h.Shape.Validate(); err != nil {
		return Header{}, damage("%v", err)
	}
	if err := validateScheme(h.Scheme); err != nil {
		return Header{}, damage("%v", err)
	}
	if h.Ones > h.Shape.Bits || h.size() != len(b) || le.Uint32(b[44:]) != 0 || len(bytes.TrimLeft(b[fixedSize+scheme+stamp:end], "\x00")) > 0 {
		return Header{}, damage("the header contradicts itself")
	}
	return h, nil
}

// readFull reads all of b. An input that ends early is damage; another error of
// the reader is passed on as it is.
func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damage("it is cut short")
	}
	return err
}
