package bloomstore

import (
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

	"github.com/firstseen/firstseen/internal/durable"
)

// Save replaces a file by the filter in one step. After an error or a crash, path holds the old
// file. Once Save returns nil, the new one survives a power cut. Beside the old file it needs
// free disk for the whole filter.
//
// stamp, at most 64 KiB, belongs to the caller; Open returns it. It should identify the state of
// the index: a filter older than the rest of its index must be rebuilt, not used.
func (f *Filter) Save(path string, stamp []byte) error {
	if len(stamp) > maxStamp {
		return fmt.Errorf("saving filter %s: a stamp of %d bytes, at most %d fit", path, len(stamp), maxStamp)
	}
	err := durable.Replace(path, func(file *os.File) error { return f.encode(file, stamp) })
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
	if err := writeWords(both, f.words, false); err != nil {
		return err
	}
	_, err := w.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
	return err
}

// Open reads a saved filter and the stamp given to Save. It checks everything, and checks sizes
// before it allocates memory. The error wraps ErrDamaged, ErrVersion or ErrScheme; the last means
// an intact filter of keys that scheme does not make. Other errors come from reading the file,
// such as fs.ErrNotExist.
func Open(path, scheme string) (f *Filter, stamp []byte, err error) {
	err = readFile(path, func(file io.Reader, size uint64) (err error) {
		f, stamp, err = decode(file, size, scheme)
		return err
	})
	return f, stamp, err
}

// readFile opens a filter's file for read, and adds file and remedy to an error.
func readFile(path string, read func(file io.Reader, size uint64) error) error {
	file, err := os.Open(path)
	if err != nil {
		return explain(path, err)
	}
	defer file.Close() // only read from: nothing can be lost
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = damage("it is no regular file")
	}
	if err == nil {
		err = read(file, uint64(info.Size()))
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
		// Refused before a gigabyte is read for nothing; the header has
		// passed its own checksum.
		return nil, nil, fmt.Errorf("%w: it has %q, wanted is %q", ErrScheme, h.Scheme, scheme)
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

// load reads the bits through both, which feeds sum, and the trailer from r.
func (f *Filter) load(r, both io.Reader, sum *xxh3.Hasher, ones uint64) (err error) {
	f.ones, err = readWords(both, f.words)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return damage("it is cut short")
	}
	if err != nil {
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

// ReadHeader reads and checks the header of a saved filter, but not its bits. Its errors are
// those of Open, without ErrScheme.
func ReadHeader(path string) (h Header, err error) {
	err = readFile(path, func(file io.Reader, size uint64) (err error) {
		h, err = decodeHeader(file, size)
		return err
	})
	return h, err
}

func explain(path string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, ErrDamaged):
		hint = "; delete it to have it rebuilt from the side table (without one, restore a copy or begin a new index)"
	case errors.Is(err, ErrScheme):
		hint = "; use the options it was made with, or another index"
	case errors.Is(err, ErrVersion):
		hint = "; use a newer program, or delete it to have it rebuilt from the side table"
	}
	return fmt.Errorf("opening filter %s: %w%s", path, err, hint)
}

// exchangeHeader is the length of m, k and the length of the bit set.
const exchangeHeader = 24

// Export writes the filter in the form of WriteTo of github.com/bits-and-blooms/bloom/v3, for
// that library's ReadFrom. Scheme, items and checksums are lost. It writes large pieces: w needs
// no buffer.
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

// chunkWords is the number of words read, written or checked at a time: 256 KiB, which stays in a
// core's own cache from one step to the next.
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

// readWords fills words from r, which has them in little-endian order, and returns the number of
// one bits. The error of a short input is io.ErrUnexpectedEOF.
func readWords(r io.Reader, words []uint64) (ones uint64, err error) {
	for chunk := range slices.Chunk(words, chunkWords) {
		if _, err := io.ReadFull(r, asBytes(chunk)); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if cpu.IsBigEndian {
			swapBytes(chunk)
		}
		ones += countOnes(chunk)
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

// excess reports whether a bit at m or above is one. words are those of m bits, none for 0.
func excess(words []uint64, m uint64) bool {
	tail := m % 64
	return tail != 0 && words[len(words)-1]>>tail != 0
}
