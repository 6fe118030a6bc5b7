// Package filterlog stores a filter without a side table: the filter's file, and journals with the
// keys added since it was saved. It is crash-safe while a stream is added. docs/format.md, "The
// filter's journal", describes the files.
package filterlog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/base/journal"
)

// FilterFile is the name of the filter's file.
const FilterFile = "filter.bloom"

// newFilterFile is the filter being saved during a run. Readers ignore it until it is renamed.
const newFilterFile = FilterFile + ".new"

// chained is one of a filter's journals.
type chained struct {
	path   string
	header LogHeader
	size   int64
}

// Left describes a run over a stream with an unclean end, in a filter-only index.
type Left struct {
	Documents uint64 // judged and remembered in that run
	Time      int64  // when they were saved, Unix seconds
}

const logPrefix = "filter"

// LogName returns the name of the journal for a generation of the filter.
func LogName(generation uint64) string { return journal.Name(logPrefix, generation) }

// Logs returns the generations of the journals in an index, ascending.
func Logs(dir string) ([]uint64, error) { return journal.Generations(dir, logPrefix) }

// MisplacedError is returned for a journal that does not match the files beside it.
type MisplacedError struct{ Path, What string }

func (e *MisplacedError) Error() string {
	return e.Path + " " + e.What + "; put the index back from a copy"
}

// Found describes a filter without a table on disk.
type Found struct {
	Header bloomstore.Header // of the filter file, else from the first journal
	Stale  []string          // journals whose keys are in the filter already

	there  bool              // there is a filter file
	at     mark              // of the filter file, or before the first journal
	values map[string][]byte // the owner's values in the filter file
	chain  []chained         // the journals of keys added later
}

// Find reads the headers of the files and selects those of one state. It changes nothing.
func Find(dir string) (a Found, err error) {
	generations, err := Logs(dir)
	if err != nil {
		return a, err
	}
	a.Header, err = bloomstore.ReadHeader(filepath.Join(dir, FilterFile))
	if a.there = err == nil; a.there {
		a.at, a.values, err = markOf(&a.Header)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	for _, n := range generations {
		c := chained{path: filepath.Join(dir, LogName(n))}
		c.header, err = ReadLogHeader(c.path)
		switch {
		case err == nil && n != c.header.Generation:
			return a, &MisplacedError{c.path, fmt.Sprintf("is the journal of generation %d under another name", c.header.Generation)}
		case n < a.at.Generation && (err == nil || errors.Is(err, journal.ErrDamaged)):
			a.Stale = append(a.Stale, c.path) // in the filter already
		case err != nil:
			return a, err
		default:
			a.chain = append(a.chain, c)
		}
	}
	if !a.there && len(a.chain) > 0 {
		first := &a.chain[0].header
		if first.Generation != 0 {
			return a, &MisplacedError{filepath.Join(dir, FilterFile), "is gone, and the journals hold only later keys"}
		}
		a.at = first.mark
		a.Header = bloomstore.Header{Shape: first.Shape, Scheme: first.Scheme}
	}
	return a, a.check()
}

// check refuses journals that do not continue the filter, each the one before it.
func (a *Found) check() error {
	want := a.at
	for i := range a.chain {
		h := &a.chain[i].header
		ok := h.Generation == want.Generation && (i > 0 || h.Token == want.Token) &&
			(i == 0 || h.Before == a.chain[i-1].header.Token) &&
			h.Shape == a.Header.Shape && h.Scheme == a.Header.Scheme
		if !ok {
			return &MisplacedError{a.chain[i].path, "does not belong to the filter and the journals before it: files of several indexes are mixed, or one is missing"}
		}
		want.Generation++
	}
	return nil
}

// load reads the filter and adds the keys of the journals.
func (a *Found) load(ctx context.Context, dir, scheme string) (f *bloomstore.Filter, left *Left, err error) {
	if a.there {
		f, _, err = bloomstore.Open(ctx, filepath.Join(dir, FilterFile), scheme)
	} else if a.Header.Scheme != scheme {
		err = fmt.Errorf("%s: %w: it has %q, expected %q; use the options it was made with, or another index",
			a.chain[0].path, bloomstore.ErrScheme, a.Header.Scheme, scheme)
	} else {
		f, err = bloomstore.New(a.Header.Shape, scheme)
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range a.chain {
		c := &a.chain[i]
		left = &Left{} // of the last run only
		c.size, _, err = ReadLog(c.path, func(g Group) error {
			f.AddParallel(g.Keys)
			left.Documents, left.Time = g.Documents, g.Time
			return ctx.Err()
		})
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
	}
	return f, left, nil
}

// Journals returns the paths of the journals that continue the filter, in order.
func (a *Found) Journals() (paths []string) {
	for i := range a.chain {
		paths = append(paths, a.chain[i].path)
	}
	return paths
}

// Load returns the filter in dir, with the keys of its journals. It changes nothing. The error for a
// folder without either is fs.ErrNotExist.
func Load(ctx context.Context, dir, scheme string) (*bloomstore.Filter, error) {
	a, err := Find(dir)
	if err == nil && !a.there && len(a.chain) == 0 {
		err = fmt.Errorf("%s: a filter: %w", dir, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	f, _, err := a.load(ctx, dir, scheme)
	return f, err
}

// stampBytes is the length of the stamp of a filter saved with a table; see docs/format.md, "The
// index directory".
const stampBytes = 32

// SavedWithTable reports whether a filter with this stamp belongs to a side table.
func SavedWithTable(stamp []byte) bool { return len(stamp) == stampBytes }

// mark identifies a state of a filter-only index, in a filter or log.
type mark struct {
	Generation uint64
	Token      token
}

// markBytes is the length of a mark in a stamp. No stamp of a filter with a table has this length,
// and all are shorter than a mark with the owner's values.
const (
	markBytes  = 25
	markLetter = 'j'
)

// markOf parses a filter's stamp: its mark and the owner's values.
func markOf(h *bloomstore.Header) (m mark, values map[string][]byte, err error) {
	switch n := len(h.Stamp); {
	case SavedWithTable(h.Stamp) || n < markBytes || h.Stamp[0] != markLetter:
		return m, nil, errors.New("its filter belonged to a side table, which is gone; put the index back from a copy")
	case n > markBytes:
		if err = json.Unmarshal(h.Stamp[markBytes:], &values); err != nil {
			return m, nil, fmt.Errorf("%s: the note of the run that made it: %w", FilterFile, err)
		}
	}
	m.Generation = binary.LittleEndian.Uint64(h.Stamp[1:])
	copy(m.Token[:], h.Stamp[9:])
	return m, values, nil
}

// contentToken returns a token derived only from the filter's content.
func contentToken(id []byte, numbers ...uint64) (t token) {
	b := slices.Clone(id)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return xxh3.Hash128(b).Bytes()
}
