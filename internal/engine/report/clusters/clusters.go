// Package clusters derives from a report which documents belong together. A line of a report links
// a document to an earlier one, its source. A cluster is a connected component of these links,
// named by the id of its first document.
//
// A document is identified by its id, so a page fetched twice is in one cluster.
package clusters

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"iter"
	"math"

	"github.com/dchest/siphash"

	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Row is a document in a cluster of two or more.
type Row struct {
	ID      string
	Cluster string // id of the first document of the cluster
	Size    int    // number of documents in the cluster
	// Verdict is the verdict of the document's line. Without a line it is "unique", as when the
	// document came. A document of an earlier run is "unique" whatever that run found.
	Verdict string
}

// Links selects the lines that link documents.
type Links uint8

const (
	All        Links = iota // every line that names one source: copies and related documents
	Duplicates              // copies only
)

// ErrTwice is returned if the second reading of a report finds other lines.
var ErrTwice = errors.New("the report has changed while it was read")

// Write calls row for every document in a cluster. The first document of a cluster comes before the
// others; the rest follow the order of the lines. The report is read twice.
//
// Write takes at most 45 bytes for each document in the report, and 80 while it grows. It keeps ids
// only of clusters in which a source has a source itself.
func Write(report iter.Seq2[*lines.Line, error], links Links, row func(*Row) error) error {
	w := &writer{forest: newForest(), links: links, ids: map[uint32]string{}, row: row}
	for line, err := range report {
		if err != nil {
			return err
		}
		w.learn(line)
	}
	for n, flag := range w.forest.flags {
		if flag&named != 0 && flag&hasLine == 0 {
			w.forest.size[w.forest.rootOf(uint32(n))]++
		}
	}
	w.known = len(w.forest.hash)
	for line, err := range report {
		if err == nil {
			err = w.write(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type writer struct {
	forest *forest
	links  Links
	known  int               // number of nodes after the first reading
	ids    map[uint32]string // ids of deep roots
	row    func(*Row) error
}

// linked reports whether a line links its document to another.
func (w *writer) linked(l *lines.Line) bool {
	return l.Of != nil && (w.links == All || l.Verdict == "duplicate")
}

// learn handles a line in the first reading.
func (w *writer) learn(l *lines.Line) {
	f := w.forest
	of, linked := uint32(0), w.linked(l)
	if linked {
		of, _ = f.node(*l.Of)
		f.flags[of] |= named
	}
	doc, fresh := f.node(l.ID)
	root := f.rootOf(doc)
	f.size[root]++
	if !linked && root != doc { // another document of this id is linked
		f.flags[root] |= deep
	}
	// With Instead it was kept, but a later copy is preferred.
	source := l.Verdict != "duplicate" && (l.Kept || l.Instead != nil)
	if source && f.flags[doc]&named == 0 && (l.Of == nil || *l.Of != l.ID) { // else an earlier one has the id
		f.flags[doc] |= hasLine
	}
	if linked {
		f.join(of, doc, fresh)
	}
}

// write handles a line in the second reading.
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

// remember keeps the id of a deep root, which names its cluster.
func (w *writer) remember(n uint32, id string) {
	if w.forest.rootOf(n) == n && w.forest.flags[n]&deep != 0 {
		w.ids[n] = id
	}
}

// put writes a row. The cluster is named by the document itself, by its source or, if the source
// has a source too, by a remembered document.
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

// A forest joins ids into trees. Each id is a node, numbered from 0 in order of first occurrence.
// The forest keeps 128 bits of SipHash for each id, under a random key without effect on results.
// Two of a billion ids share a hash with probability 1e-21, and attackers cannot choose such ids.
//
// A node takes 16 bytes of hash, 9 of data and 5 to 11 in slots. A slice that grows exists twice.
type forest struct {
	key   [2]uint64
	slots []uint32 // node number plus 1, or 0; open addressing, at most 3/4 full
	hash  [][2]uint64
	root  []uint32 // an earlier node of the same tree, or the node itself
	size  []uint32 // number of documents in the tree, at its root
	flags []flags
}

type flags uint8

const (
	named   flags = 1 << iota // an earlier document has this id
	hasLine                   // the first document of this id has a line, and others may repeat it
	deep                      // a root: documents of its tree name another source
	written                   // the row of the document without a line is written
)

func newForest() *forest {
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails
	return &forest{
		key:   [2]uint64{binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])},
		slots: make([]uint32, 1<<10),
	}
}

// node returns the number of an id, and adds the id if it is new; fresh reports that.
func (f *forest) node(id string) (n uint32, fresh bool) {
	var h [2]uint64
	h[0], h[1] = siphash.Hash128(f.key[0], f.key[1], []byte(id))
	if 4*len(f.hash) >= 3*len(f.slots) {
		f.slots = make([]uint32, 2*len(f.slots))
		for n, h := range f.hash {
			f.slots[f.find(h)] = uint32(n + 1)
		}
	}
	at := f.find(h)
	if f.slots[at] != 0 {
		return f.slots[at] - 1, false
	}
	if len(f.hash) >= math.MaxUint32-1 {
		panic("more than 4294967294 ids")
	}
	n = uint32(len(f.hash))
	f.slots[at] = n + 1
	f.hash, f.root = append(f.hash, h), append(f.root, n)
	f.size, f.flags = append(f.size, 0), append(f.flags, 0)
	return n, true
}

// find returns the slot of a hash, or the free slot for it.
func (f *forest) find(h [2]uint64) uint64 {
	mask := uint64(len(f.slots) - 1)
	at := h[0] & mask
	for f.slots[at] != 0 && f.hash[f.slots[at]-1] != h {
		at = (at + 1) & mask
	}
	return at
}

// rootOf returns the root of a node's tree, and shortens the path to it.
func (f *forest) rootOf(n uint32) uint32 {
	for f.root[n] != n {
		f.root[n] = f.root[f.root[n]]
		n = f.root[n]
	}
	return n
}

// join adds a document to the tree of the document it repeats.
func (f *forest) join(of, doc uint32, fresh bool) {
	a, b := f.rootOf(of), f.rootOf(doc)
	first, other := min(a, b), max(a, b)
	if first != of || !fresh && a != b {
		f.flags[first] |= deep
	}
	if first == other {
		return
	}
	f.flags[first] |= f.flags[other] & deep
	f.root[other] = first
	f.size[first] += f.size[other]
}
