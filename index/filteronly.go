package index

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/keylog"
	"github.com/firstseen/firstseen/internal/step"
)

// newFilterFile is the filter being saved during a run. Readers ignore it until it is renamed to
// FilterFile.
const newFilterFile = FilterFile + ".new"

// chained is one of a filter's journals.
type chained struct {
	path   string
	header keylog.Header
	size   int64
}

// Left describes a run over a stream with an unclean end, in a filter-only index.
type Left struct {
	Documents uint64 // of that run, judged and remembered
	Time      int64  // when they were saved, Unix seconds
}

// LogName returns the name of the journal for a generation of the filter.
func LogName(generation uint64) string { return fmt.Sprintf("filter.%d.log", generation) }

// logGeneration reads the name of a journal.
func logGeneration(name string) (generation uint64, ok bool) {
	number, ok := strings.CutPrefix(name, "filter.")
	number, is := strings.CutSuffix(number, ".log")
	generation, err := strconv.ParseUint(number, 10, 64)
	return generation, ok && is && err == nil && name == LogName(generation)
}

// logNames returns the names of the journals in an index.
func logNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if _, ok := logGeneration(e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// findLogs returns the journals in an index, by generation.
func findLogs(dir string) (logs []chained, err error) {
	names, err := logNames(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		generation, _ := logGeneration(name)
		c := chained{path: filepath.Join(dir, name)}
		if c.header, err = keylog.ReadHeader(c.path); err != nil {
			return nil, err
		}
		if c.header.Generation != generation {
			return nil, &misplacedError{c.path, fmt.Sprintf("is the journal of generation %d under another name", c.header.Generation)}
		}
		logs = append(logs, c)
	}
	slices.SortFunc(logs, func(a, b chained) int { return cmp.Compare(a.header.Generation, b.header.Generation) })
	return logs, nil
}

// alone is a filter-only index as it lies on the disk.
type filterOnly struct {
	there  bool // there is a filter file
	header bloomstore.Header
	at     mark              // of the filter file, or of nothing
	values map[string][]byte // the owner's that go with it
	chain  []chained         // the journals that hold what came after it
	stale  []string          // files that mean nothing
}

// findFilterOnly reads the headers of the files and finds those of one state. It changes nothing.
func findFilterOnly(dir string) (a filterOnly, err error) {
	logs, err := findLogs(dir)
	if err != nil {
		return a, err
	}
	a.header, err = bloomstore.ReadHeader(filepath.Join(dir, FilterFile))
	switch {
	case err == nil:
		a.there = true
		if a.at, a.values, err = markOf(&a.header); err != nil {
			return a, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return a, err
	case len(logs) > 0:
		first := &logs[0].header
		if first.Generation != 0 {
			return a, &misplacedError{FilterFile, "is gone, and the journals hold only what came after it"}
		}
		a.at = mark{0, first.Token}
		a.header = bloomstore.Header{Shape: bloomstore.Shape{Bits: first.Bits, Hashes: int(first.Hashes)}, Scheme: first.Scheme}
	}
	for _, c := range logs {
		if c.header.Generation < a.at.generation {
			a.stale = append(a.stale, c.path) // in the filter already
			continue
		}
		a.chain = append(a.chain, c)
	}
	return a, a.check()
}

// check refuses journals that do not continue the filter, each the one before.
func (a *filterOnly) check() error {
	want := a.at
	for i := range a.chain {
		h := &a.chain[i].header
		ok := h.Generation == want.generation && (i > 0 || h.Token == want.token) &&
			(i == 0 || h.Before == a.chain[i-1].header.Token) &&
			h.Bits == a.header.Shape.Bits && int(h.Hashes) == a.header.Shape.Hashes && h.Scheme == a.header.Scheme
		if !ok {
			return &misplacedError{a.chain[i].path, "does not belong to the filter and the journals before it: files of several indexes are mixed, or one is missing"}
		}
		want.generation++
	}
	return nil
}

// load reads the filter and adds the keys of the journals.
func (a *filterOnly) load(dir, scheme string) (f *bloomstore.Filter, left *Left, err error) {
	if a.there {
		f, _, err = bloomstore.Open(filepath.Join(dir, FilterFile), scheme)
	} else if a.header.Scheme != scheme {
		err = fmt.Errorf("%s: %w: it has %q, wanted is %q; use the options it was made with, or another index",
			a.chain[0].path, bloomstore.ErrScheme, a.header.Scheme, scheme)
	} else {
		f, err = bloomstore.New(a.header.Shape, scheme)
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range a.chain {
		c := &a.chain[i]
		left = &Left{} // of the last run only
		_, c.size, _, err = keylog.Read(c.path, func(g keylog.Group) error {
			f.AddParallel(g.Keys)
			left.Documents, left.Time = g.Documents, g.Time
			return nil
		})
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
	}
	return f, left, nil
}

// openFilterOnly returns the filter of a filter-only index, with the keys of its journals. It
// changes nothing.
func openFilterOnly(dir, scheme string) (*bloomstore.Filter, error) {
	a, err := findFilterOnly(dir)
	if err != nil {
		return nil, err
	}
	f, _, err := a.load(dir, scheme)
	return f, err
}

// markOf reads a filter's stamp: its mark and the owner's values. A filter of version 0.1.0 has no
// stamp: its generation is 0, and its token is a hash of its content.
func markOf(h *bloomstore.Header) (m mark, values map[string][]byte, err error) {
	switch n := len(h.Stamp); {
	case n == 0:
		return mark{0, contentToken(nil, 0, h.Ones, h.Items)}, nil, nil
	case savedWithTable(h.Stamp) || n < markBytes || h.Stamp[0] != markLetter:
		return m, nil, errors.New("its filter belonged to a side table, which is gone; put the index back from a copy")
	case n > markBytes:
		if values, err = decodeNote(h.Stamp[markBytes:]); err != nil {
			return m, nil, fmt.Errorf("%s: %w", FilterFile, err)
		}
	}
	m.generation = binary.LittleEndian.Uint64(h.Stamp[1:])
	copy(m.token[:], h.Stamp[9:])
	return m, values, nil
}

// stampFilterOnly returns the stamp of a filter without a table: its mark and the owner's values, if
// it has any.
func (x *Index) stampFilterOnly(m mark) []byte {
	if len(x.values) == 0 {
		return m.stamp()
	}
	return append(m.stamp(), encodeNote(x.values)...)
}

// setValues changes those of the owner's values that state has; nil removes one.
func (x *Index) setValues(state map[string][]byte) {
	if x.values == nil {
		x.values = map[string][]byte{}
	}
	maps.Copy(x.values, state)
	maps.DeleteFunc(x.values, func(_ string, v []byte) bool { return v == nil })
}

// contentToken returns a token of the filter's content alone.
func contentToken(id []byte, numbers ...uint64) (t keylog.Token) {
	b := slices.Clone(id)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return xxh3.Hash128(b).Bytes()
}

// following returns the mark of the next filter or journal.
func (x *Index) following() mark {
	m := mark{generation: x.at.generation + 1}
	if n := len(x.chain); n > 0 {
		m.generation = x.chain[n-1].header.Generation + 1
	}
	m.token = x.newToken(m.generation)
	return m
}

// newToken returns a random token. With Options.UUID it returns one of the content, so that equal
// documents give equal bytes.
func (x *Index) newToken(generation uint64) (t keylog.Token) {
	if x.uuid == [16]byte{} {
		_, _ = rand.Read(t[:]) // never fails
		return t
	}
	return contentToken(x.uuid[:], generation, x.filter.Ones(), x.filter.Items())
}

// openFilterOnly opens an index without a table.
func (x *Index) openFilterOnly(shape bloomstore.Shape) error {
	a, err := findFilterOnly(x.dir)
	if err != nil {
		return err
	}
	if !a.there && len(a.chain) == 0 {
		if shape == (bloomstore.Shape{}) {
			shape = ShapeFor(DefaultDocs, x.scheme, true)
		}
		if x.filter, err = bloomstore.New(shape, x.name); err != nil {
			return err
		}
		x.at.token = x.newToken(0)
		return nil
	}
	if shape != (bloomstore.Shape{}) && shape != a.header.Shape {
		return fmt.Errorf("index %s: its filter has %d bytes and cannot be resized without a side table; leave out --docs and --memory", x.dir, a.header.Shape.Bytes())
	}
	if x.filter, x.left, err = a.load(x.dir, x.name); err != nil {
		return err
	}
	x.at, x.chain, x.values = a.at, a.chain, a.values
	if n := len(x.chain); n > 0 {
		if x.state, err = decodeNote(x.chain[n-1].header.Note); err != nil {
			return fmt.Errorf("%s: %w", x.chain[n-1].path, err)
		}
	}
	for _, path := range a.stale {
		if err := durable.Remove(path); err != nil {
			return fmt.Errorf("removing a journal that is in the filter already: %w", err)
		}
	}
	if err := removeIfThere(x.path(newFilterFile)); err != nil {
		return fmt.Errorf("removing a filter that was not finished: %w", err)
	}
	return nil
}

// saveFilterOnly saves the filter and removes the journals.
func (x *Index) saveFilterOnly() error {
	if err := x.closeJournal(); err != nil {
		return err
	}
	m := x.following()
	if err := x.filter.Save(x.path(FilterFile), x.stampFilterOnly(m)); err != nil {
		return err
	}
	x.at = m
	for len(x.chain) > 0 {
		if err := step.Done("the last filter is in place"); err != nil {
			return err
		}
		if err := durable.Remove(x.chain[0].path); err != nil {
			return fmt.Errorf("removing a journal that is in the filter now: %w", err)
		}
		x.chain = x.chain[1:]
	}
	return nil
}

// A note holds the owner's values.
func encodeNote(state map[string][]byte) []byte {
	b, err := json.Marshal(state)
	if err != nil {
		panic(err) // strings and bytes only
	}
	return b
}

func decodeNote(b []byte) (state map[string][]byte, err error) {
	if err := json.Unmarshal(b, &state); err != nil {
		return nil, fmt.Errorf("the note of the run that made it: %w", err)
	}
	return state, nil
}
