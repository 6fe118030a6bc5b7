package docmap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/docmap/sorted"
	"github.com/firstseen/firstseen/internal/base/fields"
)

const (
	magic   = "fsdocmap"
	version = 3
)

// Seeds of the checksums outside runs; see docs/format.md.
const (
	seedRecord  = 1
	seedID      = 2
	seedPending = 3 << 56
	seedBlock   = 4 << 56
	seedDoc     = 5 << 56
	seedState   = 6
	seedDead    = 7 << 56
	seedBatch   = 8 << 56
	seedRemoved = 9 << 56
	seedCounted = 11 << 56
	seedTimes   = 10 << 56
)

// header is the table record: the whole state of the table at a checkpoint.
type header struct {
	uuid          [16]byte
	scheme        string
	seq           uint64
	content       uint64
	docs, flushed uint32
	chunks        uint32
	pending       uint64
	openBlock     uint32
	nextRun       uint32
	merges        uint64
	merged        uint64
	needs         uint32    // features that a reader must support
	win           window    // if needsWindow; as committed, and without times when read
	runs          [2][]*run // of keys, of ids; without bins when read
}

type runInfo struct {
	id          uint32
	level, log  uint8
	target      uint32
	first, last uint32
	entries     uint64
	low, high   uint64
}

func (h *header) encode() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(magic), version)
	b = append(b, h.uuid[:]...)
	b = le.AppendUint16(b, uint16(len(h.scheme)))
	b = append(b, h.scheme...)
	b = appendNumbers(b, h.numbers())
	var extra []byte
	if h.needs&needsWindow != 0 {
		extra = h.win.encode()
	}
	b = le.AppendUint32(b, uint32(len(extra)))
	b = append(b, extra...)
	for _, runs := range h.runs {
		b = le.AppendUint32(b, uint32(len(runs)))
		for i := range runs {
			b = appendNumbers(b, runs[i].numbers())
		}
	}
	return seal(b, seedRecord)
}

// numbers returns pointers to the record's numbers from the sequence on, in file order. Reading and
// writing share it, as for the other parts of the record.
func (h *header) numbers() []any {
	return []any{
		&h.seq, &h.content, &h.docs, &h.flushed, &h.chunks, &h.pending,
		&h.openBlock, &h.nextRun, &h.merges, &h.merged, &h.needs,
	}
}

func (r *runInfo) numbers() []any {
	return []any{&r.id, &r.level, &r.log, &r.target, &r.first, &r.last, &r.entries, &r.low, &r.high}
}

func appendNumbers(b []byte, numbers []any) []byte {
	for _, n := range numbers {
		b, _ = binary.Append(b, binary.LittleEndian, n) // fails for other types only
	}
	return b
}

func seal(b []byte, seed uint64) []byte {
	return binary.LittleEndian.AppendUint64(b, xxh3.HashSeed(b, seed))
}

// sealed checks the checksum at the end of b and returns b without it.
func sealed(b []byte, seed uint64) ([]byte, bool) {
	n := len(b) - 8
	if n < 0 || xxh3.HashSeed(b[:n], seed) != binary.LittleEndian.Uint64(b[n:]) {
		return nil, false
	}
	return b[:n], true
}

// decodeHeader parses the record and checks all that needs no other data.
func decodeHeader(b []byte) (*header, error) {
	if len(b) < 12 || string(b[:8]) != magic {
		return nil, damage("no table record")
	}
	body, ok := sealed(b, seedRecord)
	if !ok {
		return nil, damage("wrong checksum of the table record")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		hint := "use the version of the program that wrote it, or a later one"
		if v < version {
			hint = "make it again from the documents with firstseen dedup --index DIR, or use the version of the program that wrote it"
		}
		return nil, fmt.Errorf("%w: it has format %d, this program reads %d; %s", ErrVersion, v, version, hint)
	}
	f := &fields.Reader{Rest: body[12:]}
	h := new(header)
	copy(h.uuid[:], f.Next(16))
	h.scheme = string(f.Next(int(f.Uint16())))
	f.Into(h.numbers())
	extra := f.Next(int(f.Uint32()))
	switch {
	case h.needs&^(needsWindow|needsDead|needsBatches|needsCounted) != 0, h.needs&needsWindow == 0 && len(extra) > 0:
		// A table read without one of its features could give wrong answers.
		return nil, fmt.Errorf("%w: it uses features unknown to this program (%#x); use the version of the program that wrote it, or a later one", ErrVersion, h.needs)
	case h.needs&needsWindow != 0:
		var err error
		if h.win, err = decodeWindow(extra, h.docs); err != nil {
			return nil, err
		}
	}
	for i := range h.runs {
		for range f.Uint32() {
			if f.Short {
				break
			}
			r := new(run)
			f.Into(r.numbers())
			h.runs[i] = append(h.runs[i], r)
		}
	}
	if f.Short || len(f.Rest) != 0 {
		return nil, damage("the table record has a wrong length")
	}
	return h, h.check()
}

func (h *header) check() error {
	empty := h.docs == h.win.first(h.docs+1)-1 // the open slice
	if h.flushed > h.docs || h.openBlock > h.docs || !empty && h.openBlock == 0 || h.flushed < h.win.watermark()-1 {
		return damage("the table record contradicts itself")
	}
	for _, runs := range h.runs {
		next := h.win.watermark()
		for i := range runs {
			r := runs[i]
			bad := r.log < sorted.MinLog || r.log > sorted.MaxLog || r.last < r.first || r.low > r.high ||
				r.id == 0 || r.id >= h.nextRun || r.first != next && !(r.first == 0 && next == 1) ||
				h.win.first(r.first) != h.win.first(r.last)
			if bad {
				return damage("run record %d contradicts itself", r.id)
			}
			if isTarget := i+1 < len(runs) && runs[i+1].target == r.id; !isTarget {
				next = r.last + 1
			}
		}
		if next != h.flushed+1 {
			return damage("the runs end at document %d of %d", next-1, h.flushed)
		}
	}
	return nil
}

func encodeState(state map[string][]byte) []byte {
	le := binary.LittleEndian
	names := slices.Sorted(maps.Keys(state))
	b := le.AppendUint32(nil, uint32(len(names)))
	for _, name := range names {
		b = le.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = le.AppendUint32(b, uint32(len(state[name])))
		b = append(b, state[name]...)
	}
	return seal(b, seedState)
}

func decodeState(b []byte) (map[string][]byte, error) {
	body, ok := sealed(b, seedState)
	if !ok {
		return nil, damage("wrong checksum of the owner's values")
	}
	f := &fields.Reader{Rest: body}
	state := make(map[string][]byte)
	for range f.Uint32() {
		name := string(f.Next(int(f.Uint16())))
		state[name] = bytes.Clone(f.Next(int(f.Uint32())))
		if f.Short {
			return nil, damage("the owner's values are cut short")
		}
	}
	return state, nil
}
