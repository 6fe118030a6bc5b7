package bloomstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/cpu"

	"github.com/firstseen/firstseen/internal/base/durable"
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
	Shape  Shape
	Scheme string
	Items  uint64 // keys added, including repeats
	Ones   uint64 // one bits
	Stamp  []byte // as given to Save
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

// decodeHeader reads and checks the header of a file of the given size. It allocates at most the
// size of the longest header, and only after checking the prefix.
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
		return Header{}, fmt.Errorf("%w: version %d, this program reads version %d", ErrVersion, v, version)
	}
	size := le.Uint32(prefix[20:])
	if size < pageSize || size > maxHeader || size%pageSize != 0 {
		return Header{}, damage("a header cannot have %d bytes", size)
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

// parseHeader decodes a header with a valid checksum. It still checks every field, because a
// checksum does not prove the author.
func parseHeader(b []byte) (Header, error) {
	le := binary.LittleEndian
	scheme, stamp := uint64(le.Uint32(b[36:])), uint64(le.Uint32(b[40:]))
	end := uint64(len(b) - sumSize)
	if scheme > maxScheme || stamp > maxStamp || fixedSize+scheme+stamp > end {
		return Header{}, damage("names of %d and %d bytes do not fit in the header", scheme, stamp)
	}
	h := Header{
		Shape:  Shape{Bits: le.Uint64(b[24:]), Hashes: int(min(le.Uint32(b[32:]), maxHashes+1))},
		Scheme: string(b[fixedSize : fixedSize+scheme]),
		Items:  le.Uint64(b[48:]),
		Ones:   le.Uint64(b[56:]),
		Stamp:  b[fixedSize+scheme : fixedSize+scheme+stamp : fixedSize+scheme+stamp],
	}
	if err := cmp.Or(h.Shape.Validate(), validateScheme(h.Scheme)); err != nil {
		return Header{}, damage("%v", err)
	}
	if h.Ones > h.Shape.Bits || h.size() != len(b) || le.Uint32(b[44:]) != 0 || len(bytes.TrimLeft(b[fixedSize+scheme+stamp:end], "\x00")) > 0 {
		return Header{}, damage("the header contradicts itself")
	}
	return h, nil
}

// readFull reads all of b. An input that ends early is damaged; other errors stay unchanged.
func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damage("it is cut short")
	}
	return err
}

// zeros are compared with a chunk of bits, and written for one of an empty filter.
var zeros [8 * chunkWords]byte

// stopping is a file that neither reads nor writes after the end of a context. A written chunk of
// zeros becomes a hole, which takes no disk space: it must not be the end of the file.
type stopping struct {
	*os.File
	ctx context.Context
}

func (s stopping) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.File.Read(p)
}

func (s stopping) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if bytes.Equal(p, zeros[:]) {
		_, err := s.Seek(int64(len(p)), io.SeekCurrent)
		return len(p), err
	}
	return s.File.Write(p)
}

// Save atomically replaces the file at path with the filter. After an error, the end of ctx or a
// crash, path holds the old file. Once Save returns nil, the new file survives a power cut. It needs free disk space
// for the whole filter beside the old file.
//
// stamp, at most 64 KiB, belongs to the caller; Open returns it. It should identify the state of
// the index: a filter older than the rest of its index must be rebuilt, not used.
func (f *Filter) Save(ctx context.Context, path string, stamp []byte) error {
	if len(stamp) > maxStamp {
		return fmt.Errorf("saving filter %s: a stamp of %d bytes, at most %d fit", path, len(stamp), maxStamp)
	}
	err := durable.Replace(path, func(file *os.File) error { return f.encode(stopping{file, ctx}, stamp) })
	if err != nil {
		return fmt.Errorf("saving filter: %w", err)
	}
	return nil
}

func (f *Filter) encode(w io.Writer, stamp []byte) error {
	h := Header{Shape: f.shape, Scheme: f.scheme, Items: f.items, Ones: f.ones, Stamp: stamp}
	sum := xxh3.New()
	both := io.MultiWriter(sum, w)
	if _, err := both.Write(h.encode()); err != nil {
		return err
	}
	if err := f.writeBits(both); err != nil {
		return err
	}
	_, err := w.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
	return err
}

// writeBits writes the bits. It does not touch the memory of an empty filter.
func (f *Filter) writeBits(w io.Writer) error {
	if f.ones > 0 {
		return writeWords(w, f.words, false)
	}
	for left := 8 * len(f.words); left > 0; left -= len(zeros) {
		if _, err := w.Write(zeros[:min(left, len(zeros))]); err != nil {
			return err
		}
	}
	return nil
}

// Open reads a saved filter and the stamp given to Save. It checks everything, and checks sizes
// before it allocates memory. The error wraps ErrDamaged, ErrVersion or ErrScheme (an intact filter
// of another scheme), is from reading, such as fs.ErrNotExist, or is that of ctx when this ends.
func Open(ctx context.Context, path, scheme string) (f *Filter, stamp []byte, err error) {
	err = readFile(ctx, path, func(file io.Reader, size uint64) (err error) {
		f, stamp, err = decode(file, size, scheme)
		return err
	})
	return f, stamp, err
}

// readFile opens a filter file for read, and adds the file and a remedy to errors.
func readFile(ctx context.Context, path string, read func(file io.Reader, size uint64) error) error {
	file, err := os.Open(path)
	if err != nil {
		return explain(path, err)
	}
	defer file.Close() // read-only: nothing can be lost
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = damage("it is not a regular file")
	}
	if err == nil {
		err = read(stopping{file, ctx}, uint64(info.Size()))
	}
	if err != nil {
		return explain(path, err)
	}
	return nil
}

func decode(r io.Reader, size uint64, scheme string) (*Filter, []byte, error) {
	sum := xxh3.New()
	both := io.TeeReader(r, sum)
	h, err := decodeHeader(both, size)
	if err != nil {
		return nil, nil, err
	}
	if h.Scheme != scheme {
		// Return before reading a gigabyte in vain. The header has passed its own checksum.
		return nil, nil, fmt.Errorf("%w: it has %q, expected %q", ErrScheme, h.Scheme, scheme)
	}
	f, err := New(h.Shape, h.Scheme)
	if err != nil {
		return nil, nil, err
	}
	if err := f.load(r, both, sum, h.Ones); err != nil {
		f.Close()
		return nil, nil, err
	}
	f.items = h.Items
	return f, h.Stamp, nil
}

// load reads the bits through both, which also feeds sum, and the trailer from r.
func (f *Filter) load(r, both io.Reader, sum *xxh3.Hasher, ones uint64) (err error) {
	f.gather(ones)
	if f.ones, err = readWords(both, f.words); err != nil {
		return err
	}
	var trailer [sumSize]byte
	if err := readFull(r, trailer[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(trailer[:]) != sum.Sum64() {
		return damage("its bits do not match their checksum")
	}
	if f.ones != ones || excess(f.words, f.shape.Bits) {
		return damage("its bits do not match its header")
	}
	return nil
}

// ReadHeader reads and checks only a filter's header. Its errors are Open's except ErrScheme.
func ReadHeader(path string) (h Header, err error) {
	err = readFile(context.Background(), path, func(file io.Reader, size uint64) (err error) {
		h, err = decodeHeader(file, size)
		return err
	})
	return h, err
}

func explain(path string, err error) error {
	const afresh = "delete it to have it rebuilt from the side table (without one, restore a copy or begin a new index)"
	hint := ""
	switch {
	case errors.Is(err, ErrDamaged):
		hint = "; " + afresh
	case errors.Is(err, ErrScheme):
		hint = "; use the options it was made with, or another index"
	case errors.Is(err, ErrVersion):
		hint = "; use a newer program, or " + afresh
	}
	return fmt.Errorf("opening filter %s: %w%s", path, err, hint)
}

const exchangeHeader = 24

// Export writes the filter in the format of WriteTo in github.com/bits-and-blooms/bloom/v3, for
// that library's ReadFrom. It omits scheme, items and checksums. w needs no buffer.
func (f *Filter) Export(w io.Writer) error {
	be := binary.BigEndian
	b := be.AppendUint64(make([]byte, 0, exchangeHeader), f.shape.Bits)
	b = be.AppendUint64(b, uint64(f.shape.Hashes))
	b = be.AppendUint64(b, f.shape.Bits)
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("exporting filter: %w", err)
	}
	if err := writeWords(w, f.words, true); err != nil {
		return fmt.Errorf("exporting filter: %w", err)
	}
	return nil
}

// chunkWords is the number of words read, written or checked at a time: 256 KiB. They stay in a
// core's cache from one step to the next.
const chunkWords = 32 << 10

func writeWords(w io.Writer, words []uint64, bigEndian bool) error {
	var swapped []uint64
	if bigEndian != cpu.IsBigEndian {
		swapped = make([]uint64, min(chunkWords, len(words)))
	}
	for chunk := range slices.Chunk(words, chunkWords) {
		if swapped != nil {
			chunk = swapped[:copy(swapped, chunk)]
			swapBytes(chunk)
		}
		if _, err := w.Write(asBytes(chunk)); err != nil {
			return err
		}
	}
	return nil
}

// readWords fills words, all zero, from r, in little-endian order, and returns the number of one bits.
// It does not touch a page of zeros.
func readWords(r io.Reader, words []uint64) (ones uint64, err error) {
	piece := make([]uint64, min(chunkWords, len(words)))
	for chunk := range slices.Chunk(words, chunkWords) {
		piece = piece[:len(chunk)]
		if err := readFull(r, asBytes(piece)); err != nil {
			return 0, err
		}
		if cpu.IsBigEndian {
			swapBytes(piece)
		}
		for page := range slices.Chunk(piece, pageSize/8) {
			if n := countOnes(page); n > 0 {
				ones += n
				copy(chunk, page)
			}
			chunk = chunk[len(page):]
		}
	}
	return ones, nil
}

func asBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

func swapBytes(words []uint64) {
	for i, w := range words {
		words[i] = bits.ReverseBytes64(w)
	}
}

func countOnes(words []uint64) uint64 {
	var n int
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// excess reports whether a bit at m or above is one in words, the words of m bits.
func excess(words []uint64, m uint64) bool {
	tail := m % 64
	return tail != 0 && words[len(words)-1]>>tail != 0
}
