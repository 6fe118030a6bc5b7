// Package clusters derives from a report which documents belong together: those linked by its
// lines. Each line links a document to an earlier one, its source. A cluster is a connected
// component of these links, and is called by the id of its first document.
//
// A document is known by its id. Documents of one id are therefore in one cluster, as is wanted for
// a page fetched twice.
package clusters

import (
	"errors"

	"github.com/firstseen/firstseen/internal/report/lines"
)

// Row is a document in a cluster of two and more.
type Row struct {
	ID      string
	Cluster string // id of the first document of the cluster
	Size    int    // documents in the cluster
	// Verdict is that of the document's line. A document without a line has "unique": it was unique
	// when it came. If it came in an earlier run, it has "unique" whatever that run found.
	Verdict string
}

// Links selects the lines that link documents.
type Links uint8

const (
	All        Links = iota // every line that names one source: copies and related documents
	Duplicates              // copies only
)

// ErrTwice is returned if the second reading of a report found other lines.
var ErrTwice = errors.New("the report has changed while it was read")

// Write calls row for every document in a cluster. The first document of a cluster comes before
// the others; the rest follow the order of the lines. Each is called twice, to call f for all lines
// of the report.
//
// For each document in the report it takes 45 bytes at most, and 80 while it grows. It keeps only
// the ids of clusters in which a source has a source itself.
func Write(each func(f func(*lines.Line) error) error, links Links, row func(*Row) error) error {
	w := &writer{forest: newForest(), links: links, ids: map[uint32]string{}, row: row}
	if err := each(w.learn); err != nil {
		return err
	}
	for n, flag := range w.forest.flags {
		if flag&named != 0 && flag&hasLine == 0 {
			w.forest.size[w.forest.rootOf(uint32(n))]++
		}
	}
	w.known = len(w.forest.hash)
	return each(w.write)
}

type writer struct {
	forest *forest
	links  Links
	known  int               // nodes after the first reading
	ids    map[uint32]string // of deep roots
	row    func(*Row) error
}

// linked reports whether a line links its document to another.
func (w *writer) linked(l *lines.Line) bool {
	return l.Of != nil && (w.links == All || l.Verdict == "duplicate")
}

// learn is the first reading.
func (w *writer) learn(l *lines.Line) error {
	f := w.forest
	of, linked := uint32(0), w.linked(l)
	if linked {
		of, _ = f.node(*l.Of)
		f.flags[of] |= named
	}
	doc, fresh := f.node(l.ID)
	root := f.rootOf(doc)
	f.size[root]++
	if !linked && root != doc { // another of this id is linked
		f.flags[root] |= deep
	}
	if l.Kept || l.Verdict == "unique" { // a removed one is unique if a later copy is preferred
		f.flags[doc] |= hasLine
	}
	if linked {
		f.join(of, doc, fresh)
	}
	return nil
}

// write is the second reading.
func (w *writer) write(l *lines.Line) error {
	f := w.forest
	if w.linked(l) {
		of, _ := f.node(*l.Of)
		w.remember(of, *l.Of)
		if f.flags[of]&(hasLine|written) == 0 {
			f.flags[of] |= written
			if err := w.put(of, *l.Of, *l.Of, "unique"); err != nil {
				return err
			}
		}
	}
	doc, _ := f.node(l.ID)
	if len(f.hash) != w.known {
		return ErrTwice
	}
	w.remember(doc, l.ID)
	source := l.ID
	if w.linked(l) {
		source = *l.Of
	}
	return w.put(doc, l.ID, source, l.Verdict)
}

// remember keeps the id of a document that others will be called by.
func (w *writer) remember(n uint32, id string) {
	if w.forest.rootOf(n) == n && w.forest.flags[n]&deep != 0 {
		w.ids[n] = id
	}
}

// put writes a row. The cluster is called by the document itself, by its source or, if that has a
// source too, by a remembered document.
func (w *writer) put(n uint32, id, source, verdict string) error {
	f := w.forest
	root := f.rootOf(n)
	if f.size[root] < 2 {
		return nil
	}
	cluster, deep := w.ids[root]
	switch {
	case deep:
	case root == n:
		cluster = id
	default:
		cluster = source
	}
	return w.row(&Row{ID: id, Cluster: cluster, Size: int(f.size[root]), Verdict: verdict})
}
