package boltcheck

import (
	"bytes"
	"errors"
	"os"
	"sync"
)

// Pages checks pages of a file before bbolt follows them. Nothing may write to the file meanwhile.
type Pages struct {
	walk walk
	file *os.File

	learn    sync.Mutex
	branches map[uint64]*page // checked
}

// Open checks the pages of a file, except those of the buckets that skip names. The caller checks
// these by Floor or Tree, before bbolt reads them.
func Open(path string, skip func(name []byte) bool) (*Pages, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p := &Pages{file: file, walk: walk{f: &ahead{file: file}, skip: skip}, branches: map[uint64]*page{}}
	if err := p.walk.state(info.Size()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p.walk.seen = nil
	p.walk.skip = func([]byte) bool { return true } // bbolt enters no bucket inside these
	return p, nil
}

// ahead reads a file in larger pieces while reads move forward in small steps, as those of keys that
// were written together do.
type ahead struct {
	file  *os.File
	mu    sync.Mutex
	last  int64 // offset of the last read from the file
	at    int64 // of piece
	piece []byte
}

const (
	pieceBytes = 1 << 20
	shortStep  = 256 << 10
)

func (a *ahead) ReadAt(b []byte, at int64) (int, error) {
	a.mu.Lock()
	step := at - a.last
	held := at >= a.at && at+int64(len(b)) <= a.at+int64(len(a.piece))
	if !held && step > 0 && step <= shortStep && len(b) <= pieceBytes {
		a.piece = append(a.piece[:0], make([]byte, pieceBytes)...)
		n, _ := a.file.ReadAt(a.piece, at) // the read below returns an error
		a.at, a.piece = at, a.piece[:n]
		held = n >= len(b)
	}
	if a.last = at; held {
		defer a.mu.Unlock()
		return copy(b, a.piece[at-a.at:]), nil
	}
	a.mu.Unlock()
	return a.file.ReadAt(b, at)
}

// Close closes the file.
func (p *Pages) Close() error { return p.file.Close() }

// Free returns the number of pages in the free list.
func (p *Pages) Free() int { return p.walk.spare }

const (
	maxDepth     = 32   // of a tree; with two keys in a page, it would have 2^32 pages
	mostBranches = 1024 // kept, 4 MiB
)

// Floor returns the last key of a tree that is not above key, nil if there is none. It checks the
// pages that bbolt reads to find that key.
func (p *Pages) Floor(root uint64, key []byte) ([]byte, error) {
	var least []byte // in the page
	for range maxDepth {
		page, err := p.page(root)
		if err != nil {
			return nil, err
		}
		at, found, err := p.walk.floor(page, key)
		switch {
		case err != nil:
			return nil, err
		case page.flags == branchPage:
			if at >= 0 {
				least = found
			}
			root = page.child(max(at, 0))
		case at >= 0 && bytes.Compare(found, least) < 0:
			return nil, damagef("page %d has keys of another page", page.id)
		default:
			return found, nil
		}
	}
	return nil, damagef("a tree has more than %d levels", maxDepth)
}

// page returns a page of a tree, checked.
func (p *Pages) page(id uint64) (*page, error) {
	p.learn.Lock()
	known := p.branches[id]
	p.learn.Unlock()
	if known != nil {
		return known, nil
	}
	fresh, err := p.walk.open(id)
	switch {
	case err != nil:
		return nil, err
	case fresh.flags == leafPage:
		return fresh, p.walk.leaf(fresh)
	case fresh.flags != branchPage || fresh.count == 0:
		return nil, damagef("page %d is of kind %x", id, fresh.flags)
	}
	if fresh.body, err = p.walk.bytes(fresh, 0, fresh.size); err != nil {
		return nil, err
	}
	p.learn.Lock()
	defer p.learn.Unlock()
	if len(p.branches) >= mostBranches {
		clear(p.branches)
	}
	p.branches[id] = fresh
	return fresh, nil
}

// floor returns the last element with a key up to key, -1 for none. All keys must be in order.
func (w *walk) floor(p *page, key []byte) (last int, found []byte, err error) {
	last = -1
	var before []byte
	for i := range p.count {
		at, n, err := p.key(i)
		if err != nil {
			return 0, nil, err
		}
		k, err := w.bytes(p, at, n)
		switch {
		case err != nil:
			return 0, nil, err
		case i > 0 && bytes.Compare(k, before) <= 0:
			return 0, nil, damagef("page %d has keys out of order", p.id)
		case bytes.Compare(k, key) <= 0:
			last, found = i, k
		}
		before = k
	}
	return last, found, nil
}

// Tree checks all pages of a tree.
func (p *Pages) Tree(root uint64) error {
	w := p.walk
	return w.whole(root)
}
