// Package terms reads the words and terms of texts as 64-bit hashes. It counts the documents that
// contain a term and stores the counts in a file. Methods weigh words by them.
//
//	var c terms.Counter
//	for each document {
//		reader.Terms(text, func(hashes []uint64) { ... })
//		c.Add(all) // its terms
//	}
//	err := c.Table(2).Write(w)
//
// Rarities are whole numbers, so every machine gets the same.
package terms

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"os"
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/internal/base/durable"
)

// MaxTerms is the maximum number of terms in a table: 56 MiB in memory, 48 MiB as a file.
const MaxTerms = 4 << 20

// A Table counts the documents that contain each term. It is immutable and safe for concurrent use.
type Table struct {
	documents uint32
	hashes    []uint64 // ascending
	counts    []uint32
	rarities  []uint16 // derived from counts
	first     []uint32 // for each value of the highest bits, the start of its hashes
	digest    [digestBytes]byte
}

const firstBits = 16

// newTable makes a table of terms, whose hashes must ascend. The caller sets the digest.
func newTable(documents uint32, hashes []uint64, counts []uint32) *Table {
	t := &Table{documents: documents, hashes: hashes, counts: counts, first: make([]uint32, 1<<firstBits+1)}
	at := 0
	for i := range t.first {
		for at < len(hashes) && hashes[at]>>(64-firstBits) < uint64(i) {
			at++
		}
		t.first[i] = uint32(at)
	}
	t.rarities = make([]uint16, len(counts))
	for i, n := range counts {
		t.rarities[i] = uint16(t.rarityOf(n)) // at most 256 times 32
	}
	return t
}

// Documents returns the number of documents counted.
func (t *Table) Documents() uint32 { return t.documents }

// Len returns the number of terms.
func (t *Table) Len() int { return len(t.hashes) }

// Bytes returns the table's size in memory.
func (t *Table) Bytes() int64 { return int64(14*len(t.hashes) + 4*len(t.first)) }

// Digest returns 16 hexadecimal digits that identify the table.
func (t *Table) Digest() string { return hex.EncodeToString(t.digest[:8]) }

// Count returns the number of documents known to contain a term, or 0 if the table lacks it.
func (t *Table) Count(term uint64) uint32 {
	at, ok := t.find(term)
	if !ok {
		return 0
	}
	return t.counts[at]
}

// find searches only the terms with the same leading bits.
func (t *Table) find(term uint64) (at int, ok bool) {
	from, to := t.first[term>>(64-firstBits)], t.first[term>>(64-firstBits)+1]
	at, ok = slices.BinarySearch(t.hashes[from:to], term)
	return int(from) + at, ok
}

// Rarity returns the inverse document frequency of a term in 256ths of a bit, rounded down: 256
// log2((documents + 1) / (count + 1)). A term not in the table counts as in one document.
func (t *Table) Rarity(term uint64) uint32 {
	at, ok := t.find(term)
	if !ok {
		return t.MaxRarity()
	}
	return uint32(t.rarities[at])
}

func (t *Table) rarityOf(count uint32) uint32 {
	if t.documents == 0 {
		return 0
	}
	return log2(uint64(t.documents)+1, uint64(count)+1)
}

// MaxRarity returns the rarity of a term not in the table. No other term is rarer.
func (t *Table) MaxRarity() uint32 { return t.rarityOf(1) }

// log2 returns the binary logarithm of a/b in 256ths, rounded down, for 2^33 > a >= b > 0. It
// scales the quotient to between 1 and 2; each squaring then yields a bit.
func log2(a, b uint64) uint32 {
	e := bits.Len64(a/b) - 1
	m := a << 31 / (b << e) // in units of 2^-31
	result := uint32(e)
	for range 8 {
		m = m * m >> 31
		result <<= 1
		if m >= 1<<32 {
			m >>= 1
			result |= 1
		}
	}
	return result
}

// A Counter counts documents with each term. Its zero value is ready for use. It takes up to about
// 200 MiB, for any number of terms. When full, it drops the rarest by lossy counting (Manku,
// Motwani, "Approximate Frequency Counts over Data Streams", VLDB 2002). Missed bounds the error.
type Counter struct {
	Most      int // maximum number of terms, up to MaxTerms, which 0 means
	documents uint32
	counted   map[uint64]counted
	missed    uint32
	sorted    []uint64
}

// counted has a term's count since it was last dropped, and the maximum count before that.
type counted struct{ seen, before uint32 }

// AppendDistinct appends terms of a document to found. It sometimes removes repeats, so the memory
// for a long text stays in proportion to its distinct terms.
func AppendDistinct(found, more []uint64) []uint64 {
	const often = 1 << 17
	before := len(found) / often
	found = append(found, more...)
	if len(found)/often > before {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found
}

// Add counts a document. Its terms may repeat.
func (c *Counter) Add(terms []uint64) {
	if c.counted == nil {
		c.counted = map[uint64]counted{}
	}
	c.documents++
	c.sorted = append(c.sorted[:0], terms...)
	slices.Sort(c.sorted)
	for _, term := range slices.Compact(c.sorted) {
		n, known := c.counted[term]
		if !known {
			n.before = c.missed
		}
		n.seen++
		c.counted[term] = n
	}
	for len(c.counted) > cmp.Or(min(max(c.Most, 0), MaxTerms), MaxTerms) {
		// The possible error of counts grows by one. Terms whose count cannot exceed it are dropped.
		c.missed++
		maps.DeleteFunc(c.counted, func(_ uint64, n counted) bool { return n.seen+n.before <= c.missed })
	}
}

// Documents returns the number of documents counted.
func (c *Counter) Documents() uint32 { return c.documents }

// Missed returns the maximum number of documents that a count may be too low. A dropped term is in
// at most that many. It is 0 until a term is dropped.
func (c *Counter) Missed() uint32 { return c.missed }

// Table returns the table of the terms with a count of at least least.
func (c *Counter) Table(least uint32) *Table {
	var hashes []uint64
	for term, n := range c.counted {
		if n.seen >= least {
			hashes = append(hashes, term)
		}
	}
	slices.Sort(hashes)
	counts := make([]uint32, len(hashes))
	for i, term := range hashes {
		counts[i] = c.counted[term].seen
	}
	t := newTable(c.documents, hashes, counts)
	sum := sha256.Sum256(t.encode())
	t.digest = [digestBytes]byte(sum[:])
	return t
}

// The file format; see docs/format.md, "The table of terms":
//
//	magic      8 bytes, "fsterms1"
//	form       8 bytes, the version of the canonical form, padded with zeros
//	documents  u64
//	terms      u64, n, at most MaxTerms
//	hashes     n u64, ascending
//	counts     n u32, 1 to documents each
//	digest     the first 16 bytes of the SHA-256 of the preceding bytes
//
// All integers are little-endian.
const (
	magic       = "fsterms1"
	headerBytes = 32
	termBytes   = 12
	digestBytes = 16
)

// ErrTable is returned if a file is not a table of terms.
var ErrTable = errors.New("not a table of terms")

// Size returns the length of the file in bytes.
func (t *Table) Size() int64 { return headerBytes + termBytes*int64(len(t.hashes)) + digestBytes }

// Write writes the file to w.
func (t *Table) Write(w io.Writer) error {
	_, err := w.Write(append(t.encode(), t.digest[:]...))
	return err
}

// encode returns the file without the digest.
func (t *Table) encode() []byte {
	b := make([]byte, headerBytes, t.Size())
	copy(b, magic)
	copy(b[8:], canon.Version)
	binary.LittleEndian.PutUint64(b[16:], uint64(t.documents))
	binary.LittleEndian.PutUint64(b[24:], uint64(len(t.hashes)))
	for _, h := range t.hashes {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	for _, n := range t.counts {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// Parse reads a table from the bytes of a file. The error wraps ErrTable for invalid bytes.
func Parse(b []byte) (*Table, error) {
	if len(b) < headerBytes+digestBytes || string(b[:8]) != magic {
		return nil, fmt.Errorf("%w: it does not begin like one; make one with firstseen index terms", ErrTable)
	}
	if form := string(bytes.TrimRight(b[8:16], "\x00")); form != canon.Version {
		return nil, fmt.Errorf("%w of the canonical form %s but of %q; make it again with firstseen index terms", ErrTable, canon.Version, form)
	}
	documents, n := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	if documents >= 1<<32 || n > MaxTerms || uint64(len(b)) != headerBytes+termBytes*n+digestBytes {
		return nil, fmt.Errorf("%w: its length does not match its header; it was cut off or changed, make it again with firstseen index terms", ErrTable)
	}
	end := len(b) - digestBytes
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:digestBytes], b[end:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong; restore it from a copy, or make it again with firstseen index terms", ErrTable)
	}
	hashes, counts := make([]uint64, n), make([]uint32, n)
	for i := range hashes {
		hashes[i] = binary.LittleEndian.Uint64(b[headerBytes+8*i:])
		counts[i] = binary.LittleEndian.Uint32(b[headerBytes+8*int(n)+4*i:])
		if i > 0 && hashes[i] <= hashes[i-1] || counts[i] == 0 || uint64(counts[i]) > documents {
			return nil, fmt.Errorf("%w: its terms are not in order, or counted wrongly", ErrTable)
		}
	}
	t := newTable(uint32(documents), hashes, counts)
	t.digest = [digestBytes]byte(b[end:])
	return t, nil
}

// MaxSize is the maximum length of a file in bytes.
const MaxSize = headerBytes + termBytes*MaxTerms + digestBytes

// ReadFile reads a table of terms.
func ReadFile(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the table of terms: %w", err)
	}
	defer f.Close() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading the table of terms: %w", err)
	}
	t, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s is %w", path, err)
	}
	return t, nil
}

// WriteFile writes the table to a file, completely or not at all.
func (t *Table) WriteFile(path string) error {
	err := durable.Replace(path, func(f *os.File) error { return t.Write(f) })
	if err != nil {
		return fmt.Errorf("writing the table of terms: %w", err)
	}
	return nil
}
