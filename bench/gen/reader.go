package gen

import "io"

// maxLine bounds a document's line: 1,023 clauses of a template and a mark, plus menu and footer.
const maxLine = maxSlots * (maxTemplate + 8)

// Reader is a stream of documents as JSON lines.
type Reader struct {
	g       *Generator
	next    uint64
	pending []byte // rest of a document that did not fit
	buf     []byte
	spent   int64
}

// NewReader returns a reader of the documents from number 0 on.
func (g *Generator) NewReader() *Reader { return &Reader{g: g.Clone()} }

// Read fills p with lines; a large p is filled directly.
func (r *Reader) Read(p []byte) (int, error) {
	clock := startClock()
	defer func() { r.spent += clock.stop() }()
	n := 0
	for n < len(p) {
		if len(r.pending) > 0 {
			c := copy(p[n:], r.pending)
			r.pending, n = r.pending[c:], n+c
			continue
		}
		if r.next == r.g.cfg.Docs {
			break
		}
		if len(p)-n >= maxLine {
			n += len(r.g.AppendLine(p[n:n:len(p)], r.next))
		} else {
			r.buf = r.g.AppendLine(r.buf[:0], r.next)
			r.pending = r.buf
		}
		r.next++
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// CPU returns the CPU time spent making documents, in nanoseconds, or elapsed time on systems
// without CPU time per thread. It must not be called during Read.
func (r *Reader) CPU() int64 { return r.spent }
