package terms

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/feature/canon"
)

// The file is described in docs/format.md, "The table of terms":
//
//	magic      8 bytes, "fsterms1"
//	form       8 bytes, the version of the canonical form, zeros behind it
//	documents  u64
//	terms      u64, n, at most MaxTerms
//	hashes     n u64, ascending
//	counts     n u32, 1 to documents each
//	digest     the first 16 bytes of the SHA-256 of all before
//
// All integers are little-endian.
const (
	magic       = "fsterms1"
	headerBytes = 32
	termBytes   = 12
	digestBytes = 16
)

// ErrTable is returned if a file is no table of terms.
var ErrTable = errors.New("not a table of terms")

// Size is the length of the file in bytes.
func (t *Table) Size() int64 { return headerBytes + termBytes*int64(len(t.hashes)) + digestBytes }

// Write writes the table.
func (t *Table) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	t.writeTo(out)
	out.Write(t.digest[:])
	return out.Flush() // the first error of all
}

// sum is the digest of what stands before it.
func (t *Table) sum() (digest [digestBytes]byte) {
	h := sha256.New()
	out := bufio.NewWriter(h)
	t.writeTo(out)
	_ = out.Flush() // a hash takes all
	copy(digest[:], h.Sum(nil))
	return digest
}

func (t *Table) writeTo(out *bufio.Writer) {
	var header [headerBytes]byte
	copy(header[:8], magic)
	copy(header[8:16], canon.Version)
	binary.LittleEndian.PutUint64(header[16:], uint64(t.documents))
	binary.LittleEndian.PutUint64(header[24:], uint64(len(t.hashes)))
	out.Write(header[:])
	var b [8]byte
	for _, h := range t.hashes {
		binary.LittleEndian.PutUint64(b[:], h)
		out.Write(b[:])
	}
	for _, n := range t.counts {
		binary.LittleEndian.PutUint32(b[:], n)
		out.Write(b[:4])
	}
}

// Parse reads a file's bytes. If they are not a table, or a damaged one, it returns ErrTable with
// the fault.
func Parse(b []byte) (*Table, error) {
	if len(b) < headerBytes+digestBytes || string(b[:8]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as one does; firstseen terms makes them", ErrTable)
	}
	if form := string(bytes.TrimRight(b[8:16], "\x00")); form != canon.Version {
		return nil, fmt.Errorf("%w of the canonical form %s but of %q; make it again with firstseen terms", ErrTable, canon.Version, form)
	}
	documents, n := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	if documents >= 1<<32 || n > MaxTerms || uint64(len(b)) != headerBytes+termBytes*n+digestBytes {
		return nil, fmt.Errorf("%w: its length is not what its beginning says; it was cut off or changed, make it again with firstseen terms", ErrTable)
	}
	end := len(b) - digestBytes
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:digestBytes], b[end:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong; restore it from a copy, or make it again with firstseen terms", ErrTable)
	}
	hashes, counts := make([]uint64, n), make([]uint32, n)
	for i := range hashes {
		hashes[i] = binary.LittleEndian.Uint64(b[headerBytes+8*i:])
		counts[i] = binary.LittleEndian.Uint32(b[headerBytes+8*int(n)+4*i:])
		if i > 0 && hashes[i] <= hashes[i-1] || counts[i] == 0 || uint64(counts[i]) > documents {
			return nil, fmt.Errorf("%w: its terms are not in order, or counted wrongly", ErrTable)
		}
	}
	return newTable(uint32(documents), hashes, counts), nil
}

// MaxSize is the length of the largest file.
const MaxSize = headerBytes + termBytes*MaxTerms + digestBytes
