package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Limits of pages, in bytes: of one, and of those held for all columns. DuckDB makes pages of 100
// MB.
const (
	maxPage  = 256 << 20
	maxPages = 512 << 20
)

// Memory is the most that reading a file takes, in bytes: pages, the footer, and the data made from
// the footer. Files as most writers make them take a few MiB for each column.
const Memory = maxPages + 2*maxFooter

// pages reads the pages of all columns of a file, one at a time. It holds one as it is stored, and
// counts how much the columns hold of theirs. Before any byte is read, made or gone through, spend
// is called with the amount, see [corpus.Limits].
type pages struct {
	file   io.ReaderAt
	tool   decompressor
	spend  func(n int64) error
	held   int64
	stored []byte
}

func (p *pages) readAt(buf []byte, at int64) error {
	if err := p.spend(int64(len(buf))); err != nil {
		return err
	}
	_, err := p.file.ReadAt(buf, at)
	return err
}

// read reads a page as it is stored. It is valid until the next is read.
func (p *pages) read(at int64, h *pageHeader) (stored []byte, err error) {
	if p.stored, err = p.grow(p.stored, int(h.Stored)); err != nil {
		return nil, err
	}
	if err := p.readAt(p.stored, at); err != nil {
		return nil, err
	}
	if h.CRC != nil && crc32.ChecksumIEEE(p.stored) != uint32(*h.CRC) {
		return nil, errors.New("its checksum is wrong: it is damaged")
	}
	return p.stored, nil
}

// decompress decompresses a page to size bytes, in the memory of buf if it has the room.
func (p *pages) decompress(buf []byte, size int, codec int32, stored []byte) ([]byte, error) {
	if err := p.spend(int64(size)); err != nil {
		return buf, err
	}
	if most := mostOf(codec, len(stored)); size > most {
		return buf, fmt.Errorf("it says it has %d bytes decompressed, and with its codec %d stored cannot be more than %d: it is damaged", size, len(stored), most)
	}
	buf, err := p.grow(buf, size)
	if err != nil || size == 0 && len(stored) == 0 {
		return buf, err
	}
	return buf, p.tool.decompress(codec, buf, stored)
}

// grow makes a buffer of n bytes, to be overwritten.
func (p *pages) grow(buf []byte, n int) ([]byte, error) {
	if n <= cap(buf) {
		return buf[:n], nil
	}
	if err := p.hold(n - cap(buf)); err != nil {
		return nil, err
	}
	return make([]byte, n), nil
}

// hold counts bytes held from now on.
func (p *pages) hold(n int) error {
	if p.held += int64(n); p.held > maxPages {
		return fmt.Errorf("the pages of all columns that are read take more than the limit of %d bytes: write the file again with smaller pages, or leave out columns", maxPages)
	}
	return nil
}
