package docmap

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pageFile is a table's file whose pages are changed behind bbolt's back.
type pageFile struct {
	t *testing.T
	b []byte
}

func (f *pageFile) page(id uint64) []byte { return f.b[id*pageSize:] }

// newest is the header page in force.
func (f *pageFile) newest() []byte {
	le := binary.LittleEndian
	a, b := f.page(0)[pageHead:], f.page(1)[pageHead:]
	if le.Uint64(a[48:]) > le.Uint64(b[48:]) {
		return a
	}
	return b
}

// seal gives the header pages right checksums.
func (f *pageFile) seal() {
	for i := range uint64(2) {
		h := f.page(i)[pageHead:]
		sum := fnv.New64a()
		sum.Write(h[:56])
		binary.LittleEndian.PutUint64(h[56:], sum.Sum64())
	}
}

func (f *pageFile) rootID() uint64 { return binary.LittleEndian.Uint64(f.newest()[16:]) }

// root is the root page, or the first leaf where that is a branch.
func (f *pageFile) root() []byte {
	p := f.page(f.rootID())
	for p[8] == branchPage {
		p = f.page(binary.LittleEndian.Uint64(p[pageHead+8:]))
	}
	return p
}

func (f *pageFile) free() []byte { return f.page(binary.LittleEndian.Uint64(f.newest()[32:])) }

// bucketValue is the value of a bucket whose pages are not in it.
func (f *pageFile) bucketValue() []byte {
	le := binary.LittleEndian
	root := f.root()
	for i := range int(le.Uint16(root[10:])) {
		e := root[pageHead+i*elementBytes:]
		value := e[le.Uint32(e[4:])+le.Uint32(e[8:]):]
		if le.Uint64(value) != 0 {
			return value
		}
	}
	f.t.Fatal("all buckets are small")
	return nil
}

// smallBucket is the page within the value of a small bucket.
func (f *pageFile) smallBucket() []byte {
	le := binary.LittleEndian
	root := f.root()
	for i := range int(le.Uint16(root[10:])) {
		e := root[pageHead+i*elementBytes:]
		value := e[le.Uint32(e[4:])+le.Uint32(e[8:]):]
		if le.Uint64(value) == 0 && le.Uint16(value[26:]) > 0 {
			return value[16:]
		}
	}
	f.t.Fatal("no bucket is small")
	return nil
}

// Whatever leads bbolt to a page is looked at before bbolt follows it.
func TestPageWalk(t *testing.T) {
	le := binary.LittleEndian
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		change     func(f *pageFile)
	}{
		{"magic", "not one of bbolt's", func(f *pageFile) { f.newest()[0]++ }},
		{"bbolt's version", "another version of bbolt", func(f *pageFile) { f.newest()[4]++ }},
		{"page size", "another version of bbolt", func(f *pageFile) { f.newest()[9]++ }},
		{"root page before the first", "page 1 of", func(f *pageFile) { le.PutUint64(f.newest()[16:], 1) }},
		{"root page after the last", "is wanted", func(f *pageFile) { le.PutUint64(f.newest()[16:], 1<<40) }},
		{"too many pages", "bytes of", func(f *pageFile) { le.PutUint64(f.newest()[40:], 1<<40) }},
		{"fewer pages", "", func(f *pageFile) { le.PutUint64(f.newest()[40:], le.Uint64(f.newest()[40:])-1) }},
		{"no pages", "bytes of 2 pages", func(f *pageFile) { le.PutUint64(f.newest()[40:], 2) }},
		{"number of the root page", "wrong header", func(f *pageFile) { f.root()[0]++ }},
		{"length of the root page", "wrong header", func(f *pageFile) { le.PutUint32(f.root()[12:], 1<<30) }},
		{"kind of the root page", "is of kind", func(f *pageFile) { f.root()[8] = 0x20 }},
		{"a leaf called a branch", "", func(f *pageFile) { f.root()[8] = branchPage }},
		{"place of a branch's element", "outside of it", func(f *pageFile) {
			p := f.page(f.rootID())
			p[8] = branchPage
			le.PutUint32(p[pageHead:], 1<<20)
		}},
		{"an empty branch", "is empty", func(f *pageFile) { p := f.root(); p[8] = branchPage; le.PutUint16(p[10:], 0) }},
		{"elements of the root page", "elements", func(f *pageFile) { le.PutUint16(f.root()[10:], 1<<15) }},
		{"kind of an element", "is of kind", func(f *pageFile) { f.root()[pageHead] |= 4 }},
		{"place of an element", "outside of it", func(f *pageFile) { le.PutUint32(f.root()[pageHead+4:], 1<<20) }},
		{"length of an element", "outside of it", func(f *pageFile) { le.PutUint32(f.root()[pageHead+12:], 1<<31) }},
		{"length of a bucket", "cut short", func(f *pageFile) { le.PutUint32(f.root()[pageHead+12:], 3) }},
		{"a bucket's page", "is used twice", func(f *pageFile) { le.PutUint64(f.bucketValue(), le.Uint64(f.newest()[16:])) }},
		{"kind of a small bucket", "has no page", func(f *pageFile) { f.smallBucket()[8]++ }},
		{"elements of a small bucket", "cut short", func(f *pageFile) { le.PutUint16(f.smallBucket()[10:], 1000) }},
		{"element of a small bucket", "wrong element", func(f *pageFile) { f.smallBucket()[pageHead] = 1 }},
		{"free list's page", "is used twice", func(f *pageFile) { copy(f.newest()[32:40], f.newest()[16:24]) }},
		{"kind of the free list", "is no free list", func(f *pageFile) { f.free()[8] = leafPage; le.PutUint16(f.free()[10:], 0) }},
		{"more free pages", "cannot be free", func(f *pageFile) { le.PutUint16(f.free()[10:], le.Uint16(f.free()[10:])+1) }},
		{"more free pages than fit", "cut short", func(f *pageFile) { le.PutUint16(f.free()[10:], 0xFFF0) }},
		{"fewer free pages", "belong to nothing", func(f *pageFile) { le.PutUint16(f.free()[10:], le.Uint16(f.free()[10:])-1) }},
		{"a used page called free", "cannot be free", func(f *pageFile) {
			le.PutUint64(f.free()[pageHead:], le.Uint64(f.newest()[16:]))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &pageFile{t: t, b: append([]byte(nil), good...)}
			c.change(f)
			f.seal()
			if err := os.WriteFile(path, f.b, 0o600); err != nil {
				t.Fatal(err)
			}
			err := checkPages(path)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("the error is %v, want %q", err, c.says)
			}
			if _, err := Open(path, Options{ReadOnly: true}); !errors.Is(err, ErrDamaged) {
				t.Fatalf("opened: %v", err)
			}
		})
	}
}

func TestPageWalkOfShortFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	if err := checkPages(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for _, n := range []int{0, 10, pageSize + pageHead + headerBytes - 1} {
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkPages(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
