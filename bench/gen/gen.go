// Package gen generates documents for measurements: any number, the same for the same seed, with
// planted copies of known source.
//
//	g, err := gen.New(gen.Config{Docs: 10_000_000, Seed: 1, Duplicates: 0.1})
//	src := corpus.NewSource(stdin, jsonl.Format{}, corpus.SourceConfig{Stdin: g.NewReader()})
//	...
//	truth := g.Truth(4711) // kind and sources of document 4711, without making it
//
// A document is a list of clauses, English or Chinese. A clause is a template of words drawn by
// Zipf's law, with three holes. Words that spell the numbers of document and clause fill the holes,
// so no other clause of any document equals it. Nothing is stored: an earlier document is made
// again from its number.
//
// In ten million documents the mean has 3 KB and 48 segments of the default scheme. A third of them
// carry the menu and the footer of one of 200 sites.
package gen

import (
	"fmt"
	"strconv"
)

// Config selects the documents. Only Docs must be set.
type Config struct {
	Docs uint64 // at most MaxDocs
	Seed uint64
	// Duplicates is the share of documents, 0 to 0.8, that are exact or near copies of an earlier
	// one. A fiftieth as many again are quotations and a hundredth are mosaics.
	Duplicates float64
	// Posts is the share of documents, 0 to 1, that have only one to three clauses.
	Posts float64
	// Start, if positive, gives the documents times in Unix seconds; see Time.
	Start int64
}

const (
	// MaxDocs is the number of documents that the words of a clause can number.
	MaxDocs = 1 << 25

	docBits  = 26 // numbers of documents and, from MaxDocs on, of sites
	slotBits = 10
	maxSlots = 1 << slotBits
	sites    = 200
)

// Generator makes documents. It is for one goroutine; Clone makes another.
type Generator struct {
	cfg    Config
	tables *tables
	order  []uint32 // of a source's clauses, by length
	mark   []bool   // clauses of it to replace
}

// New prepares the tables, which takes some milliseconds.
func New(cfg Config) (*Generator, error) {
	if cfg.Docs > MaxDocs {
		return nil, fmt.Errorf("generating: %d documents, at most %d", cfg.Docs, MaxDocs)
	}
	if !(cfg.Duplicates >= 0 && cfg.Duplicates <= 0.8) {
		return nil, fmt.Errorf("generating: a share of duplicates of %v, want 0 to 0.8", cfg.Duplicates)
	}
	if !(cfg.Posts >= 0 && cfg.Posts <= 1) {
		return nil, fmt.Errorf("generating: a share of posts of %v, want 0 to 1", cfg.Posts)
	}
	return &Generator{cfg: cfg, tables: newTables(cfg.Seed)}, nil
}

// Clone returns a generator of the same documents for another goroutine.
func (g *Generator) Clone() *Generator { return &Generator{cfg: g.cfg, tables: g.tables} }

// AppendID appends the id of document n.
func AppendID(dst []byte, n uint64) []byte { return strconv.AppendUint(append(dst, 'd'), n, 10) }

// Number returns the number of the document with that ID.
func Number(id string) (uint64, error) {
	if len(id) < 2 || id[0] != 'd' {
		return 0, fmt.Errorf("%q is not the id of a generated document", id)
	}
	return strconv.ParseUint(id[1:], 10, 64)
}

// MostDelay is the maximum delay of a document, in seconds.
const MostDelay = 1000

// Time returns the time of document n, one each second from Start on. Every eighth comes up to
// MostDelay later than its time.
func (g *Generator) Time(n uint64) int64 {
	at := g.cfg.Start + int64(n)
	if h := mix(n ^ g.cfg.Seed ^ 0x7e11); h&7 == 0 {
		at -= int64((h >> 3) % MostDelay)
	}
	return at
}

// AppendLine appends document n, from 0, as a line of JSON with its end. n may exceed Config.Docs.
func (g *Generator) AppendLine(dst []byte, n uint64) []byte {
	dst = append(dst, `{"id":"`...)
	dst = AppendID(dst, n)
	if g.cfg.Start > 0 {
		dst = strconv.AppendInt(append(dst, `","at":`...), g.Time(n), 10)
		dst = append(dst, `,"text":"`...)
	} else {
		dst = append(dst, `","text":"`...)
	}
	dst = g.appendText(dst, n)
	return append(dst, "\"}\n"...)
}

// appendText appends the text as the contents of a JSON string.
func (g *Generator) appendText(dst []byte, n uint64) []byte {
	t := g.Truth(n)
	switch t.Kind {
	case Unique:
		return g.appendWhole(dst, n, nil, 0)
	case Exact:
		return g.appendWhole(dst, t.Sources[0], nil, 0)
	case Mosaic:
		return g.appendMosaic(dst, &t)
	}
	return g.appendWhole(dst, t.Sources[0], g.replaced(t.Sources[0], t.Overlap), n)
}

// appendWhole appends a unique document with its site's menu and footer. Clauses marked in replaced
// keep their form and take the words of document by.
func (g *Generator) appendWhole(dst []byte, n uint64, replaced []bool, by uint64) []byte {
	s := g.shape(n)
	site := uint64(MaxDocs) + s.site
	if s.hasSite {
		dst = append(append(dst, g.tables.of(s.chinese).menus[s.site]...), `\n\n`...)
	}
	w := writer{lang: g.tables.of(s.chinese), seed: g.cfg.Seed, start: true}
	for slot := range s.slots {
		owner := n
		if replaced != nil && replaced[slot] {
			owner = by
		}
		dst = w.clause(dst, n, owner, slot)
	}
	dst = w.end(dst)
	if s.hasSite {
		dst = append(dst, `\n\n© `...)
		for slot := range 1 + s.site%3 {
			dst = w.clause(dst, site, site, slot)
		}
		dst = w.end(dst)
	}
	return dst
}

// pieces is the number of sources of a mosaic, and pieceSlots the number of clauses from each. So
// two mosaics with two common sources are no duplicates.
const (
	pieces     = 5
	pieceSlots = 10
)

// appendMosaic appends the longest clauses of each source, which are chosen from it at any length.
func (g *Generator) appendMosaic(dst []byte, t *Truth) []byte {
	w := writer{lang: g.tables.of(g.shape(t.Sources[0]).chinese), seed: g.cfg.Seed, start: true}
	for _, source := range t.Sources {
		for _, o := range g.byLength(source)[:pieceSlots] {
			dst = w.clause(dst, source, source, uint64(o&(maxSlots-1)))
		}
	}
	return w.end(dst)
}

// byLength lists the clauses of a document, the longest first. A number holds the length above
// slotBits bits of the slot.
func (g *Generator) byLength(n uint64) []uint32 {
	s := g.shape(n)
	lang := g.tables.of(s.chinese)
	// Lengths are few and small, so a counting sort suffices.
	var counts [maxTemplate + 1]uint16
	for slot := range s.slots {
		counts[maxTemplate-int(lang.template(g.cfg.Seed, n, slot).width)]++
	}
	at := uint16(0)
	for i, c := range counts {
		counts[i] = at
		at += c
	}
	if cap(g.order) < maxSlots {
		g.order, g.mark = make([]uint32, maxSlots), make([]bool, maxSlots)
	}
	g.order = g.order[:s.slots]
	for slot := range s.slots {
		width := lang.template(g.cfg.Seed, n, slot).width
		place := &counts[maxTemplate-int(width)]
		g.order[*place] = uint32(width)<<slotBits | uint32(slot)
		*place++
	}
	return g.order
}

// replaced marks the clauses of a source that a near copy does not share, evenly by length. The
// longest, which alone are chosen from a long document, thus have the planted share too.
func (g *Generator) replaced(source uint64, overlap float64) []bool {
	order := g.byLength(source)
	g.mark = g.mark[:len(order)]
	away := 1 - overlap
	for i, o := range order {
		g.mark[o&(maxSlots-1)] = int(float64(i+1)*away) > int(float64(i)*away)
	}
	return g.mark
}
