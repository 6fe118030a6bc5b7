package compress

import (
	"errors"
)

// aheadReader reads an input decoded ahead.
type aheadReader struct {
	a     *Ahead
	p     *Piece
	c     chunk
	left  []byte // of c
	began int64  // the value of read at the start of the input
	read  *int64 // bytes of all inputs
	ratio Expansion
}

// Reader reads the input with the first piece p, and counts its stored bytes in read, from began on.
func (a *Ahead) Reader(p *Piece, read *int64, began int64) *aheadReader {
	r := &aheadReader{a: a, p: p, read: read, began: began}
	r.ratio = Expansion{Stored: func() int64 { return r.c.used }, Most: a.limits.MaxRatio}
	return r
}

func (r *aheadReader) Read(b []byte) (int, error) {
	for len(r.left) == 0 {
		switch err := r.c.err; {
		case err == nil:
			r.fetch()
		case !errors.Is(err, errHandedOver):
			return 0, err
		default:
			next := r.a.next()
			if next == nil || next.In != r.p.In {
				return 0, errClosed // it is closed meanwhile
			}
			r.p, r.c = next, chunk{}
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	if len(r.left) == 0 {
		r.a.queue.give(r.c.data)
		r.c.data = nil
	}
	return n, nil
}

func (r *aheadReader) fetch() {
	r.c = r.a.queue.get(r.p)
	r.left = r.c.data
	*r.read = max(*r.read, r.began+r.c.read)
	if err := r.ratio.Add(len(r.left)); err != nil {
		r.c.err = err
	}
	if r.c.err != nil && !errors.Is(r.c.err, errHandedOver) {
		r.p.In.over.Store(true)
	}
	if len(r.left) == 0 {
		r.a.queue.give(r.c.data)
		r.c.data = nil
	}
}
