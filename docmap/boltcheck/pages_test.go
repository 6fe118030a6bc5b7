package boltcheck

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFloor finds keys as bbolt does, and checks only the pages on the way.
func TestFloor(t *testing.T) {
	le := binary.LittleEndian
	path := filepath.Join(t.TempDir(), "table")
	someFile(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := func([]byte) bool { return true }
	find := func(key string) func(p *Pages, root uint64) (string, error) {
		return func(p *Pages, root uint64) (string, error) {
			k, err := p.Floor(root, []byte(key))
			return string(k), err
		}
	}
	first, last := find("0"), find("99")
	for _, c := range []struct {
		name        string
		change      func(f *pageFile, branch []byte)
		first, last string // key, or error
		tree        string
	}{
		{"nothing", func(*pageFile, []byte) {}, "0", "99", ""},
		{"a leaf that is not asked for", func(f *pageFile, branch []byte) {
			f.page(le.Uint64(branch[pageHead+8:]))[0]++
		}, "wrong header", "99", "wrong header"},
		{"a branch below itself", func(f *pageFile, branch []byte) {
			copy(branch[pageHead+8:], branch[:8])
		}, "levels", "99", "used twice"},
		{"a leaf below another's key", func(f *pageFile, branch []byte) {
			n := int(le.Uint16(branch[10:]))
			copy(branch[pageHead+16*(n-1)+8:][:8], branch[pageHead+8:])
		}, "0", "of another page", "used twice"},
		{"keys of a branch in disorder", func(f *pageFile, branch []byte) {
			e := branch[pageHead+16:]
			e[le.Uint32(e)] = 0
		}, "out of order", "out of order", ""},
		{"keys of a leaf in disorder", func(f *pageFile, branch []byte) {
			e := f.page(le.Uint64(branch[pageHead+8:]))[pageHead+16:]
			e[le.Uint32(e[4:])] = 0
		}, "out of order", "99", ""},
		{"a kind of a page", func(f *pageFile, branch []byte) {
			f.page(le.Uint64(branch[pageHead+8:]))[8] = freePage
		}, "is of kind", "99", "is of kind"},
	} {
		f := &pageFile{t: t, b: append([]byte(nil), good...)}
		root := le.Uint64(f.bucketValue()) // of "many"
		c.change(f, f.page(root))
		if err := os.WriteFile(path, f.b, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(path, all)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for want, ask := range map[string]func(*Pages, uint64) (string, error){c.first: first, c.last: last} {
			if c.first == c.last {
				ask = first
			}
			if got, err := ask(p, root); got != want && (!isDamage(err) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %q, %v, want %q", c.name, got, err, want)
			}
		}
		if err := p.Tree(root); (err == nil) != (c.tree == "") || err != nil && !strings.Contains(err.Error(), c.tree) {
			t.Errorf("%s: the whole tree: %v, want %q", c.name, err, c.tree)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFloorOfEveryKey looks up all keys, and keys between them.
func TestFloorOfEveryKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	someFile(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(path, func([]byte) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	root := binary.LittleEndian.Uint64((&pageFile{t: t, b: good}).bucketValue())
	for i := range 500 {
		key := fmt.Sprint(i)
		for _, ask := range []string{key, key + "\x00"} {
			if k, err := p.Floor(root, []byte(ask)); err != nil || string(k) != key {
				t.Errorf("the floor of %q is %q, %v", ask, k, err)
			}
		}
	}
	if k, err := p.Floor(root, []byte("/")); err != nil || k != nil {
		t.Errorf("before the first key: %q, %v", k, err)
	}
	if p.Free() == 0 {
		t.Error("no page is free")
	}
}
