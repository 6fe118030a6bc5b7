// Package boltcheck checks the pages of a bbolt file and returns the first fault. bbolt trusts its
// pages. A wrong number in one can make it loop, allocate without bound, panic in its own
// goroutine, or overwrite pages in use. It has checksums only on its two header pages. Checksummed
// values still need this check of the pages that lead to them:
//
//	err := boltcheck.File(path) // before bbolt opens it
//
// It reads the format of the bbolt version in go.mod. The tests list the checks for a new version.
package boltcheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"github.com/bits-and-blooms/bitset"
)

// bbolt's file format, version 2: pages of a header and elements.
//
//	page    id u64, flags u16, count u16, overflow u32 (more pages of it)
//	branch  count × (position u32, key length u32, page u64)
//	leaf    count × (flags u32, position u32, key length u32, value length u32)
//	free    count × page u64; of more than 65534, the first is the count
//	header  magic u32, version u32, page size u32, flags u32, root page u64,
//	        sequence u64, free list page u64, pages in use u64, transaction
//	        u64, FNV-1a of all that u64
//
// Positions are relative to their element. The value of an element with flag 1 is a bucket: root
// page u64, sequence u64 and, if root is 0, an inline leaf page.
const (
	pageHead     = 16
	branchPage   = 0x01
	leafPage     = 0x02
	freePage     = 0x10
	bucketFlag   = 0x01
	elementBytes = 16
	headerBytes  = 64
	bboltMagic   = 0xED0CDAED
	bboltVersion = 2
)

// PageSize is the page size of all files that this package reads.
const PageSize = 4096

// Damage describes a fault of a file.
type Damage string

func (d Damage) Error() string { return string(d) }

func damagef(format string, args ...any) error { return Damage(fmt.Sprintf(format, args...)) }

// A walk reads the pages of a file, but only the first 4 KiB of values of 64 to 128 KiB. For 4 GB
// in the page cache it takes 60 ms.
type walk struct {
	f     io.ReaderAt
	pages uint64 // in use
	free  uint64 // page of the free list
	root  uint64
	seen  *bitset.BitSet         // pages reached, or in the free list; nil if they may be reached again
	skip  func(name []byte) bool // buckets not to check; nil for none
	spare int                    // pages in the free list
}

// File returns a [Damage] if the pages of the file are inconsistent, or an error of reading it. No
// process may write to the file during the call.
func File(path string) error {
	return walkFile(path, func(w *walk, size int64) error {
		if err := w.state(size); err != nil {
			return err
		}
		if lost := w.pages - 2 - uint64(w.seen.Count()); lost != 0 {
			return damagef("%d pages are neither used nor free", lost)
		}
		return nil
	})
}

// state checks the pages of the newest state.
func (w *walk) state(size int64) error {
	if err := w.headers(size); err != nil {
		return err
	}
	if err := w.whole(w.root); err != nil {
		return err
	}
	return w.freeList()
}

func walkFile(path string, f func(w *walk, size int64) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return f(&walk{f: file}, info.Size())
}

// headers checks that both header pages are valid. bbolt would accept one and, if the newer one is
// damaged, an older state of the table. No crash causes that: a header is smaller than a disk's
// unit of writing.
func (w *walk) headers(size int64) error {
	newest := uint64(0)
	for i := range int64(2) {
		b := make([]byte, headerBytes)
		if _, err := w.f.ReadAt(b, i*PageSize+pageHead); err != nil {
			return noEOF(err, "it has %d bytes", size)
		}
		le := binary.LittleEndian
		sum := fnv.New64a()
		sum.Write(b[:56])
		switch {
		case le.Uint32(b) != bboltMagic:
			return damagef("header page %d is not a bbolt page", i)
		case le.Uint64(b[56:]) != sum.Sum64():
			return damagef("wrong checksum of header page %d", i)
		case le.Uint32(b[4:]) != bboltVersion || le.Uint32(b[8:]) != PageSize:
			return damagef("header page %d is of another version of bbolt", i)
		}
		if txid := le.Uint64(b[48:]); i == 0 || txid > newest {
			newest = txid
			w.root, w.free, w.pages = le.Uint64(b[16:]), le.Uint64(b[32:]), le.Uint64(b[40:])
		}
	}
	if w.pages < 3 || w.pages > uint64(size)/PageSize {
		return damagef("it has %d bytes of %d pages", size, w.pages)
	}
	return nil
}

func noEOF(err error, format string, args ...any) error {
	if errors.Is(err, io.EOF) {
		return damagef(format, args...)
	}
	return err
}

// A page holds the header and elements of a page.
type page struct {
	id    uint64
	flags uint16
	count int
	size  int64  // with its overflow pages
	elems []byte // count elements
	body  []byte // the bytes read of the page
}

// bytes returns n bytes of a page from offset at on.
func (w *walk) bytes(p *page, at, n int64) ([]byte, error) {
	if at+n <= int64(len(p.body)) {
		return p.body[at : at+n], nil
	}
	b := make([]byte, n)
	_, err := w.f.ReadAt(b, int64(p.id)*PageSize+at)
	return b, noEOF(err, "page %d is cut short", p.id)
}

// open reads a page and checks its header. It refuses to open a page twice.
func (w *walk) open(id uint64) (*page, error) {
	if id < 2 || id >= w.pages {
		return nil, damagef("page %d of %d is referenced", id, w.pages)
	}
	b := make([]byte, PageSize)
	if _, err := w.f.ReadAt(b, int64(id)*PageSize); err != nil {
		return nil, noEOF(err, "page %d is missing", id)
	}
	over := uint64(binary.LittleEndian.Uint32(b[12:]))
	p := &page{
		id: id, flags: binary.LittleEndian.Uint16(b[8:]),
		count: int(binary.LittleEndian.Uint16(b[10:])),
		size:  int64(over+1) * PageSize,
		body:  b,
	}
	if binary.LittleEndian.Uint64(b) != id || over >= w.pages-id {
		return nil, damagef("page %d has a wrong header", id)
	}
	for i := id; i <= id+over && w.seen != nil; i++ {
		if w.seen.Test(uint(i)) {
			return nil, damagef("page %d is used twice", i)
		}
		w.seen.Set(uint(i))
	}
	n := p.count * elementBytes
	if p.flags == freePage {
		n = int(p.size) - pageHead
	}
	if n > int(p.size)-pageHead {
		return nil, damagef("page %d has %d elements", id, p.count)
	}
	var err error
	p.elems, err = w.bytes(p, pageHead, int64(n))
	return p, err
}

func (w *walk) tree(id uint64) error {
	p, err := w.open(id)
	if err != nil {
		return err
	}
	switch p.flags {
	case leafPage:
		return w.leaf(p)
	case branchPage:
		return w.branch(p)
	}
	return damagef("page %d is of kind %x", id, p.flags)
}

func (w *walk) branch(p *page) error {
	if p.count == 0 {
		return damagef("page %d is empty", p.id)
	}
	for i := range p.count {
		if _, _, err := p.key(i); err != nil {
			return err
		}
		willNeed(w.f, p.child(i))
	}
	for i := range p.count {
		if err := w.tree(p.child(i)); err != nil {
			return err
		}
	}
	return nil
}

func (p *page) child(i int) uint64 { return binary.LittleEndian.Uint64(p.elems[i*elementBytes+8:]) }

// key returns the offset and the length of an element's key.
func (p *page) key(i int) (at, n int64, err error) {
	e := p.elems[i*elementBytes:]
	if p.flags == leafPage {
		e = e[4:]
	}
	n = int64(binary.LittleEndian.Uint32(e[4:]))
	at = pageHead + int64(i*elementBytes) + int64(binary.LittleEndian.Uint32(e))
	if at+n > p.size {
		return 0, 0, damagef("page %d: element %d is outside of it", p.id, i)
	}
	return at, n, nil
}

func (w *walk) leaf(p *page) error {
	for i := range p.count {
		e := p.elems[i*elementBytes:]
		at, n, err := leafValue(e, i, p.size)
		if err != nil {
			return damagef("page %d: %v", p.id, err)
		}
		flags := binary.LittleEndian.Uint32(e)
		if flags&^bucketFlag != 0 {
			return damagef("page %d: element %d is of kind %x", p.id, i, flags)
		}
		if flags == 0 {
			continue
		}
		value, err := w.bytes(p, at, n)
		if err == nil {
			err = w.named(p, i, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errOutside = errors.New("an element is outside of it")

// leafValue returns the offset of a leaf element's value in its page, and its length.
func leafValue(e []byte, i int, size int64) (at, n int64, err error) {
	le := binary.LittleEndian
	pos, key, n := int64(le.Uint32(e[4:])), int64(le.Uint32(e[8:])), int64(le.Uint32(e[12:]))
	at = pageHead + int64(i*elementBytes) + pos + key
	if at+n > size {
		return 0, 0, errOutside
	}
	return at, n, nil
}

// named checks the bucket of an element, unless it is to be skipped and has pages of its own.
func (w *walk) named(p *page, i int, value []byte) error {
	if len(value) < 16 {
		return damagef("a bucket is cut short")
	}
	root := binary.LittleEndian.Uint64(value)
	if root == 0 {
		return smallBucket(value)
	}
	if w.skip != nil {
		at, n, err := p.key(i)
		if err != nil {
			return err
		}
		if name, err := w.bytes(p, at, n); err != nil || w.skip(name) {
			return err
		}
	}
	return w.tree(root)
}

func smallBucket(value []byte) error {
	in := value[16:]
	if len(in) < pageHead || binary.LittleEndian.Uint16(in[8:]) != leafPage {
		return damagef("a small bucket has no page")
	}
	count := int(binary.LittleEndian.Uint16(in[10:]))
	if pageHead+count*elementBytes > len(in) {
		return damagef("a small bucket is cut short")
	}
	for i := range count {
		e := in[pageHead+i*elementBytes:]
		if _, _, err := leafValue(e, i, int64(len(in))); err != nil || binary.LittleEndian.Uint32(e) != 0 {
			return damagef("a small bucket has a wrong element")
		}
	}
	return nil
}

// freeList checks that no page in the free list is in use. bbolt would overwrite it.
func (w *walk) freeList() error {
	p, err := w.open(w.free)
	if err != nil {
		return err
	}
	if p.flags != freePage {
		return damagef("page %d is not a free list", p.id)
	}
	ids := p.elems
	n := uint64(p.count)
	if n == 0xFFFF {
		n, ids = binary.LittleEndian.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids))/8 {
		return damagef("the free list is cut short")
	}
	w.spare = int(n)
	last := uint64(1)
	for i := range n {
		id := binary.LittleEndian.Uint64(ids[8*i:])
		if id <= last || id >= w.pages || w.seen.Test(uint(id)) {
			return damagef("page %d cannot be free", id)
		}
		last = id
		w.seen.Set(uint(id))
	}
	return nil
}

// Tree is File for one state of a file being written. It checks the pages reachable from root, in a
// file of the given number of pages. The caller ensures that they do not change.
func Tree(path string, root, pages uint64) error {
	return walkFile(path, func(w *walk, size int64) error {
		if pages < 3 || pages > uint64(size)/PageSize {
			return damagef("it has %d bytes of %d pages", size, pages)
		}
		w.pages = pages
		return w.whole(root)
	})
}

func (w *walk) whole(root uint64) error {
	w.seen = bitset.New(uint(w.pages))
	return w.tree(root)
}
