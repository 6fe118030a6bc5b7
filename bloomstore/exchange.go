package bloomstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

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

// ErrTooLarge is wrapped by the error of Import for a filter larger than the limit.
var ErrTooLarge = errors.New("more than the limit")

// Import reads a filter in the form of WriteTo of github.com/bits-and-blooms/bloom/v3, and no
// byte more. The input does not name its keys: the caller asserts that they were 8 little-endian
// bytes made by scheme. limit bounds the memory of the filter, in bytes. Items is an estimate
// from the one bits. If the input cannot be a filter, the error wraps ErrDamaged. A wrong byte in
// the bits goes unnoticed, because the form has no checksum.
func Import(r io.Reader, scheme string, limit uint64) (*Filter, error) {
	f, err := importFrom(r, scheme, limit)
	if err != nil {
		return nil, fmt.Errorf("importing filter: %w", err)
	}
	return f, nil
}

func importFrom(r io.Reader, scheme string, limit uint64) (*Filter, error) {
	var b [exchangeHeader]byte
	if err := readFull(r, b[:]); err != nil {
		return nil, err
	}
	be := binary.BigEndian
	shape := Shape{Bits: be.Uint64(b[:]), Hashes: int(min(be.Uint64(b[8:]), maxHashes+1))}
	length := be.Uint64(b[16:])
	if err := shape.Validate(); err != nil {
		return nil, damage("%v", err)
	}
	// bloom.From rounds the length up to whole words; a bit set that grew on
	// demand is shorter, and its missing bits are zero.
	if length > shape.words()*64 {
		return nil, damage("it has %d bits for a filter of %d", length, shape.Bits)
	}
	if shape.Bytes() > limit {
		return nil, fmt.Errorf("it takes %d bytes of memory, %w of %d", shape.Bytes(), ErrTooLarge, limit)
	}
	f, err := New(shape, scheme)
	if err != nil {
		return nil, err
	}
	if err := f.loadExchange(r, min(length, shape.Bits)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// loadExchange reads the words of the first length bits; the rest stays zero.
func (f *Filter) loadExchange(r io.Reader, length uint64) (err error) {
	words := f.words[:(length+63)/64]
	f.ones, err = readWords(r, words, true)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return damage("it is cut short")
	}
	if err != nil {
		return err
	}
	if excess(words, length) {
		return damage("a bit beyond its length is set")
	}
	f.items = f.shape.estimateItems(f.ones)
	return nil
}
