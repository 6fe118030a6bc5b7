package boltcheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func isDamage(err error) bool {
	var d Damage
	return errors.As(err, &d)
}

// someFile makes a file with large, small and branched buckets, long values and free pages.
func someFile(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: PageSize, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		err := db.Update(func(tx *bbolt.Tx) error {
			for name, size := range map[string]int{"long": 40_000, "many": 300, "one": 10} {
				b, err := tx.CreateBucketIfNotExists([]byte(name))
				if err != nil {
					return err
				}
				for i := range map[string]int{"long": 8, "many": 500, "one": 3}[name] {
					if err := b.Put(fmt.Append(nil, i), make([]byte, size+round)); err != nil {
						return err
					}
				}
			}
			if _, err := tx.CreateBucketIfNotExists([]byte("empty")); err != nil {
				return err
			}
			if round == 2 {
				return tx.DeleteBucket([]byte("long"))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := File(path); err != nil {
		t.Fatal("a sound file: ", err)
	}
}

// TestVersionOfBbolt pins the version of bbolt, since only its page format is known.
func TestVersionOfBbolt(t *testing.T) {
	const known = "v1.5.0"
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "\tgo.etcd.io/bbolt "+known+"\n") {
		t.Errorf("go.mod no longer names bbolt %s, whose pages this package knows. Compare with the new version: "+
			"internal/common/page.go, meta.go, inode.go and bucket.go (lengths and flags of headers and elements, "+
			"magic and version), internal/freelist (how more than 65534 pages are written), and the comment at the "+
			"top of boltcheck.go; then what package docmap relies on: that DB.Info().Data is where the file is mapped, "+
			"that a mapping changes only while a transaction that writes is committed, and that Bucket.Root is 0 "+
			"for a bucket inside another page. Then change the version here.", known)
	}
}

// pageFile is a table's file whose pages are changed behind bbolt's back.
type pageFile struct {
	t *testing.T
	b []byte
}

func (f *pageFile) page(id uint64) []byte { return f.b[id*PageSize:] }

// newest returns the current header page.
func (f *pageFile) newest() []byte {
	le := binary.LittleEndian
	a, b := f.page(0)[pageHead:], f.page(1)[pageHead:]
	if le.Uint64(a[48:]) > le.Uint64(b[48:]) {
		return a
	}
	return b
}

// seal sets valid checksums in the header pages.
func (f *pageFile) seal() {
	for i := range uint64(2) {
		h := f.page(i)[pageHead:]
		sum := fnv.New64a()
		sum.Write(h[:56])
		binary.LittleEndian.PutUint64(h[56:], sum.Sum64())
	}
}

func (f *pageFile) rootID() uint64 { return binary.LittleEndian.Uint64(f.newest()[16:]) }

// root returns the root page, or its first leaf if it is a branch.
func (f *pageFile) root() []byte {
	p := f.page(f.rootID())
	for p[8] == branchPage {
		p = f.page(binary.LittleEndian.Uint64(p[pageHead+8:]))
	}
	return p
}

func (f *pageFile) free() []byte { return f.page(binary.LittleEndian.Uint64(f.newest()[32:])) }

// buckets returns the values of all buckets.
func (f *pageFile) buckets() (values [][]byte) {
	le := binary.LittleEndian
	root := f.root()
	for i := range int(le.Uint16(root[10:])) {
		e := root[pageHead+i*elementBytes:]
		values = append(values, e[le.Uint32(e[4:])+le.Uint32(e[8:]):])
	}
	return values
}

// bucketValue returns the value of a bucket that has separate pages.
func (f *pageFile) bucketValue() []byte {
	for _, value := range f.buckets() {
		if binary.LittleEndian.Uint64(value) != 0 {
			return value
		}
	}
	f.t.Fatal("all buckets are small")
	return nil
}

// smallBucket returns the page inside the value of a small bucket.
func (f *pageFile) smallBucket() []byte {
	for _, value := range f.buckets() {
		if le := binary.LittleEndian; le.Uint64(value) == 0 && le.Uint16(value[26:]) > 0 {
			return value[16:]
		}
	}
	f.t.Fatal("no bucket is small")
	return nil
}

// TestPageWalk checks every reference to a page before bbolt follows it.
func TestPageWalk(t *testing.T) {
	le := binary.LittleEndian
	path := filepath.Join(t.TempDir(), "table")
	someFile(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		change     func(f *pageFile)
	}{
		{"magic", "is not a bbolt page", func(f *pageFile) { f.newest()[0]++ }},
		{"bbolt's version", "another version of bbolt", func(f *pageFile) { f.newest()[4]++ }},
		{"page size", "another version of bbolt", func(f *pageFile) { f.newest()[9]++ }},
		{"root page before the first", "page 1 of", func(f *pageFile) { le.PutUint64(f.newest()[16:], 1) }},
		{"root page after the last", "is referenced", func(f *pageFile) { le.PutUint64(f.newest()[16:], 1<<40) }},
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
		{"kind of the free list", "is not a free list", func(f *pageFile) { f.free()[8] = leafPage; le.PutUint16(f.free()[10:], 0) }},
		{"more free pages", "cannot be free", func(f *pageFile) { le.PutUint16(f.free()[10:], le.Uint16(f.free()[10:])+1) }},
		{"more free pages than fit", "cut short", func(f *pageFile) { le.PutUint16(f.free()[10:], 0xFFF0) }},
		{"fewer free pages", "neither used nor free", func(f *pageFile) { le.PutUint16(f.free()[10:], le.Uint16(f.free()[10:])-1) }},
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
			err := File(path)
			if !isDamage(err) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("the error is %v, want %q", err, c.says)
			}
		})
	}
}

func TestPageWalkOfShortFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	if err := File(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for _, n := range []int{0, 10, PageSize + pageHead + headerBytes - 1} {
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := File(path); !isDamage(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
