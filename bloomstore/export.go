package bloomstore

import (
	"encoding/binary"
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
