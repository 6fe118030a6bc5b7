package bulk

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// table is a [dedup.SharedStore] in memory. It holds documents under the names of their marked keys
// only, and omits documents without one. Each key has a list of its documents, the latest first. Most
// keys have one document, and need no posting.
type table struct {
	heads keyTable // link to the latest document of each key
	docs  []uint64 // place of each document in the arena, with onlyCounts
	arena arena

	run     func(tasks int, f func(task int)) // of Share
	waiting [holdTasks][]held                 // for the tasks of Add
	full    atomic.Bool
}

// held is a key to be held by a document. A task of Add has those of some parts of heads.
type held struct {
	key uint64
	num uint32
}

const holdTasks = 64

const onlyCounts = 1 << 63

// posting is an element of a key's list.
type posting struct {
	document uint32 // from 1; with countedBit, the document only counts
	before   uint32 // link to the document before
}

// A link is 0, the index of a posting of the key's part with listBit, or the number of a document. A
// number ends its list, and never belongs to a document that only counts.
const (
	listBit    = 1 << 31
	countedBit = 1 << 31
)

// The most documents of a table, and postings of one of its 256 parts: 550 billion in all. They are
// smaller in tests.
var (
	maxDocuments = countedBit - 1
	maxPostings  = listBit
)

var errTable = errors.New("these documents have too many marked keys for one decision: leave out the marks of keys with many documents, see docs/howto.md")

func newTable() *table {
	t := &table{run: inTurn}
	for i := range t.heads {
		t.heads[i].alloc(64 + i/16)
	}
	return t
}

// inTurn does tasks one after the other.
func inTurn(tasks int, f func(task int)) {
	for task := range tasks {
		f(task)
	}
}

func (t *table) bytes() int64 {
	n := int64(cap(t.docs))*8 + t.arena.total
	for i := range t.heads {
		n += 12*int64(len(t.heads[i].keys)) + 8*int64(cap(t.heads[i].postings))
	}
	return n
}

// Add implements [dedup.Store].
func (t *table) Add(ids []string, data [][]byte, keys [][]uint64, _ []uint32, marks []bool) (uint32, error) {
	first := uint32(len(t.docs)) + 1
	for i := range ids {
		if len(t.docs) >= maxDocuments {
			return 0, errTable
		}
		num := uint32(len(t.docs)) + 1
		t.docs = append(t.docs, t.arena.add(ids[i], data[i]))
		if len(marks) > 0 && marks[i] {
			t.docs[num-1] |= onlyCounts
			num |= countedBit
		}
		for _, key := range keys[i] {
			if key >= unmarked {
				of := &t.waiting[key*mixer>>56%holdTasks]
				*of = append(*of, held{key, num})
			}
		}
	}
	t.run(holdTasks, func(task int) {
		for _, h := range t.waiting[task] {
			if !t.hold(h.key, h.num) {
				t.full.Store(true)
			}
		}
		t.waiting[task] = t.waiting[task][:0]
	})
	if t.full.Load() {
		return 0, errTable
	}
	return first, nil
}

// follow returns the document at a link, and the link before it.
func (p *keyPart) follow(link uint32) (document, before uint32) {
	if link&listBit == 0 {
		return link, 0
	}
	at := p.postings[link&^listBit]
	return at.document, at.before
}

// hold adds a document to the list of a key, unless it is there or the list is full. It returns false
// if there is no room.
func (t *table) hold(key uint64, num uint32) bool {
	head := t.heads.get(key)
	p, _ := t.heads.part(key)
	for link, n := head, 1; link != 0; n++ {
		document, before := p.follow(link)
		if n == dedup.MaxHolders || document == num {
			return true
		}
		link = before
	}
	if head == 0 && num&countedBit == 0 {
		t.heads.put(key, num)
		return true
	}
	if len(p.postings) >= maxPostings {
		return false
	}
	t.heads.put(key, listBit|uint32(len(p.postings)))
	p.postings = append(p.postings, posting{num, head})
	return true
}

// Lookup implements [dedup.Store].
func (t *table) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	for i, key := range keys {
		n[i] = 0
		if key < unmarked {
			continue
		}
		found := holders[i*dedup.MaxHolders:][:0]
		p, _ := t.heads.part(key)
		for link := t.heads.get(key); link != 0; {
			num, before := p.follow(link)
			link = before
			if num&countedBit != 0 {
				num = dedup.Counted
			}
			found = append(found, num)
		}
		slices.Reverse(found)
		n[i] = uint8(len(found))
	}
	return nil
}

// Records implements [dedup.Store].
func (t *table) Records(nums []uint32, ids, data [][]byte) error {
	for i, num := range nums {
		if num == 0 || int(num) > len(t.docs) {
			return errRecord
		}
		ids[i], data[i] = t.arena.at(t.docs[num-1] &^ onlyCounts)
	}
	return nil
}

// Share implements [dedup.SharedStore]. Add uses run.
func (t *table) Share(_ int, run func(tasks int, f func(task int))) error {
	t.run = run
	return nil
}

// Asker implements [dedup.SharedStore].
func (t *table) Asker(int) dedup.Asker { return t }

// Documents implements [dedup.SharedStore].
func (t *table) Documents() uint32 { return uint32(len(t.docs)) }

// Live implements [dedup.SharedStore].
func (t *table) Live(num uint32) bool {
	return num > 0 && int(num) <= len(t.docs) && t.docs[num-1] < onlyCounts
}

const slabBytes = 4 << 20

// arena holds ids and data in slabs, so that the garbage collector has few objects to scan. An
// entry longer than a slab gets a slab for itself.
type arena struct {
	slabs [][]byte
	total int64
}

// add stores an entry and returns its place: slab and offset.
func (a *arena) add(id string, data []byte) uint64 {
	need := len(id) + len(data) + 2*binary.MaxVarintLen64
	if n := len(a.slabs); n == 0 || cap(a.slabs[n-1])-len(a.slabs[n-1]) < need {
		a.slabs = append(a.slabs, make([]byte, 0, max(slabBytes, need)))
		a.total += int64(max(slabBytes, need))
	}
	slab := &a.slabs[len(a.slabs)-1]
	at := len(*slab)
	*slab = append(binary.AppendUvarint(*slab, uint64(len(id))), id...)
	*slab = appendBytes(*slab, data)
	return uint64(len(a.slabs)-1)<<32 | uint64(at)
}

func (a *arena) at(place uint64) (id, data []byte) {
	entry := fields.Reader{Rest: a.slabs[place>>32][uint32(place):]}
	id = entry.Bytes()
	return id, entry.Bytes()
}

func (a *arena) used() (n int64) {
	for _, slab := range a.slabs {
		n += int64(len(slab))
	}
	return n
}

// keyTable maps keys to numbers above 0. It is a hash table in 256 parts with linear probing, 12
// bytes a slot, and no pointers for the garbage collector. A part is at most three quarters full,
// and grows by a quarter. The parts differ in size and grow at different times, so the table always
// takes 18 bytes a key. A Go map is half as fast.
type keyTable [256]keyPart

type keyPart struct {
	keys     []uint64
	heads    []uint32 // 0 for an empty slot
	n        int
	postings []posting // of the keys' lists
}

const mixer = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio

// part returns the part of a key and the hash for its slot. A whole text's key may be any number.
func (t *keyTable) part(key uint64) (p *keyPart, hash uint64) {
	hash = key * mixer
	return &t[hash>>56], hash << 8
}

// get returns the number of a key, or 0.
func (t *keyTable) get(key uint64) uint32 {
	p, hash := t.part(key)
	return p.heads[p.slot(key, hash)]
}

func (t *keyTable) put(key uint64, head uint32) {
	p, hash := t.part(key)
	at := p.slot(key, hash)
	if p.heads[at] == 0 {
		if p.n++; 4*p.n > 3*len(p.keys) {
			p.grow()
			at = p.slot(key, hash)
		}
	}
	p.keys[at], p.heads[at] = key, head
}

func (p *keyPart) alloc(slots int) {
	p.keys, p.heads = make([]uint64, slots), make([]uint32, slots)
}

// slot returns the slot of a key, or the empty slot for it.
func (p *keyPart) slot(key, hash uint64) int {
	first, _ := bits.Mul64(hash, uint64(len(p.keys)))
	at := int(first)
	for p.heads[at] != 0 && p.keys[at] != key {
		if at++; at == len(p.keys) {
			at = 0
		}
	}
	return at
}

func (p *keyPart) grow() {
	old := *p
	p.alloc(len(old.keys) + len(old.keys)/4)
	for i, head := range old.heads {
		if head != 0 {
			at := p.slot(old.keys[i], old.keys[i]*mixer<<8)
			p.keys[at], p.heads[at] = old.keys[i], head
		}
	}
}
