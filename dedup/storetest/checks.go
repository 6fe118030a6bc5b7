package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/firstseen/firstseen/dedup"
)

func empty(s dedup.Store) error {
	if c, ok := s.(interface{ Closed() bool }); ok && c.Closed() {
		return errors.New("a new store is closed")
	}
	if err := s.Records([]uint32{1}, make([][]byte, 1), make([][]byte, 1)); err == nil {
		return errors.New("reading document 1 of none is no error")
	}
	return want(s, []uint64{0, 1, math.MaxUint64}, make([][]uint32, 3))
}

func numbers(s dedup.Store) error {
	return cmp.Or(
		add(s, 1, doc{id: "a"}),
		add(s, 2, doc{id: "b"}, doc{id: "c"}, doc{id: "d"}),
		add(s, 5, doc{id: "e"}),
	)
}

func records(s dedup.Store) error {
	docs := []doc{
		{id: "short", data: "x"},
		{id: "https://example.org/\x00\xff", data: "\x00\x01\x02\xff"},
		{id: strings.Repeat("long", 10_000), data: "y"},
		{id: "z", data: strings.Repeat("data", 10_000)},
		{id: "no data"},
		{id: "data?", data: "id"},
	}
	return cmp.Or(
		add(s, 1, docs[:2]...),
		wantRecords(s, []uint32{2, 1}, []doc{docs[1], docs[0]}),
		add(s, 3, docs[2:]...),
		wantRecords(s, []uint32{1, 2, 3, 4, 5, 6}, docs),
		wantRecords(s, []uint32{6, 2, 6, 6}, []doc{docs[5], docs[1], docs[5], docs[5]}),
	)
}

// recordsAreCopies: what Records has given stays while documents are added and
// keys looked up.
func recordsAreCopies(s dedup.Store) error {
	if err := add(s, 1, doc{"first", "data of it", []uint64{1}}, doc{"second", "of another", []uint64{2}}); err != nil {
		return err
	}
	ids, data := make([][]byte, 2), make([][]byte, 2)
	if err := s.Records([]uint32{1, 2}, ids, data); err != nil {
		return err
	}
	if err := cmp.Or(add(s, 3, doc{"third", "and more", []uint64{3}}), want(s, []uint64{1}, [][]uint32{{1}})); err != nil {
		return err
	}
	if string(ids[0]) != "first" || string(data[0]) != "data of it" || string(ids[1]) != "second" || string(data[1]) != "of another" {
		return fmt.Errorf("what Records gave has become %q, %q after an Add and a Lookup", ids, data)
	}
	return nil
}

func sameIDs(s dedup.Store) error {
	docs := []doc{{"", "1", []uint64{1}}, {"same", "2", []uint64{2}}, {"", "3", []uint64{3}}, {"same", "4", []uint64{4}}}
	return cmp.Or(
		add(s, 1, docs...),
		wantRecords(s, []uint32{1, 2, 3, 4}, docs),
		want(s, []uint64{1, 2, 3, 4}, [][]uint32{{1}, {2}, {3}, {4}}),
	)
}

func unknownNumbers(s dedup.Store) error {
	if err := add(s, 1, doc{id: "a"}, doc{id: "b"}); err != nil {
		return err
	}
	for _, nums := range [][]uint32{{0}, {3}, {math.MaxUint32}, {1, 3}, {0, 2}} {
		if err := s.Records(nums, make([][]byte, len(nums)), make([][]byte, len(nums))); err == nil {
			return fmt.Errorf("reading %v is no error, of two documents", nums)
		}
	}
	return wantRecords(s, []uint32{2}, []doc{{id: "b"}})
}

func unknownKeys(s dedup.Store) error {
	const key = 0x123456789abcdef0
	if err := add(s, 1, doc{"a", "", []uint64{key}}); err != nil {
		return err
	}
	ask, none := []uint64{key}, [][]uint32{{1}}
	for bit := range 64 {
		ask, none = append(ask, key^1<<bit), append(none, nil)
	}
	return want(s, ask, none)
}

func keyTwice(s dedup.Store) error {
	return cmp.Or(
		add(s, 1, doc{"a", "", []uint64{5, 6, 5, 5, 6}}),
		add(s, 2, doc{"b", "", []uint64{6, 6}}),
		want(s, []uint64{5, 6, 5}, [][]uint32{{1}, {1, 2}, {1}}),
	)
}

// earliestHolders: of the documents that hold a key the earliest are named, and of
// the others, which hold it too, not one.
func earliestHolders(s dedup.Store) error {
	const common, rare = 1 << 63, 1<<63 + 1
	holders := make([]uint32, 0, dedup.MaxHolders)
	for num := uint32(1); num <= 3*dedup.MaxHolders; num++ {
		if num%2 == 0 && len(holders) < dedup.MaxHolders {
			holders = append(holders, num)
		}
		d := doc{fmt.Sprint(num), "", []uint64{uint64(num)}}
		if num%2 == 0 {
			d.keys = append(d.keys, common, common)
		}
		if num%16 == 0 {
			d.keys = append(d.keys, rare)
		}
		err := cmp.Or(
			add(s, num, d),
			want(s, []uint64{uint64(num), common}, [][]uint32{{num}, holders}),
		)
		if err != nil {
			return err
		}
	}
	return want(s, []uint64{rare, common, rare}, [][]uint32{{16}, holders, {16}})
}

func holdersInBatch(s dedup.Store) error {
	docs := make([]doc, dedup.MaxHolders+3)
	holders := make([]uint32, dedup.MaxHolders)
	for i := range docs {
		docs[i] = doc{fmt.Sprint(i), "", []uint64{9, uint64(100 + i)}}
	}
	for i := range holders {
		holders[i] = uint32(i + 1)
	}
	last := uint32(len(docs))
	return cmp.Or(
		add(s, 1, docs...),
		want(s, []uint64{uint64(99 + last), 9, 100}, [][]uint32{{last}, holders, {1}}),
	)
}

func noKeys(s dedup.Store) error {
	return cmp.Or(
		add(s, 1, doc{id: "a", data: "without"}),
		add(s, 2, doc{"b", "with", []uint64{0}}, doc{id: "c"}),
		want(s, []uint64{0, 1}, [][]uint32{{2}, nil}),
		wantRecords(s, []uint32{1, 2, 3}, []doc{{id: "a", data: "without"}, {id: "b", data: "with"}, {id: "c"}}),
	)
}

func extremeKeys(s dedup.Store) error {
	keys := []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	holders := make([][]uint32, len(keys))
	for i := range keys {
		holders[i] = []uint32{1, 2}
	}
	return cmp.Or(add(s, 1, doc{"a", "", keys}, doc{"b", "", keys}), want(s, keys, holders))
}

func emptyBatches(s dedup.Store) error {
	if _, err := s.Add(nil, nil, nil); err != nil {
		return fmt.Errorf("an Add of no documents: %w", err)
	}
	return cmp.Or(
		add(s, 1, doc{"a", "", []uint64{1}}),
		s.Lookup(nil, nil, nil),
		s.Records(nil, nil, nil),
		want(s, []uint64{1}, [][]uint32{{1}}),
	)
}

// slicesReused: the store keeps none of the caller's slices.
func slicesReused(s dedup.Store) error {
	data, keys := []byte("data"), []uint64{1, 2, 3}
	ids, all, lists := []string{"a"}, [][]byte{data}, [][]uint64{keys}
	if _, err := s.Add(ids, all, lists); err != nil {
		return err
	}
	copy(data, "over")
	copy(keys, []uint64{7, 8, 9})
	ids[0], all[0], lists[0] = "X", nil, nil
	return cmp.Or(
		wantRecords(s, []uint32{1}, []doc{{id: "a", data: "data"}}),
		want(s, []uint64{1, 3, 7, 9}, [][]uint32{{1}, {1}, nil, nil}),
	)
}

// closed: a store that can be closed says so, and answers nothing any more.
func closed(s dedup.Store) error {
	c, ok := s.(interface{ Close() error })
	if !ok {
		return nil
	}
	state, ok := s.(interface{ Closed() bool })
	if !ok {
		return errors.New("it has Close and not Closed: a Deduper would go on without it")
	}
	if err := add(s, 1, doc{"a", "", []uint64{1}}); err != nil {
		return err
	}
	if err := cmp.Or(c.Close(), c.Close()); err != nil {
		return fmt.Errorf("closing twice: %w", err)
	}
	if !state.Closed() {
		return errors.New("it says that it is not closed after Close")
	}
	_, adding := s.Add([]string{"b"}, make([][]byte, 1), make([][]uint64, 1))
	for what, err := range map[string]error{
		"Add":     adding,
		"Lookup":  s.Lookup([]uint64{1}, make([]uint32, dedup.MaxHolders), make([]uint8, 1)),
		"Records": s.Records([]uint32{1}, make([][]byte, 1), make([][]byte, 1)),
	} {
		if err == nil {
			return fmt.Errorf("%s of a closed store is no error", what)
		}
	}
	return nil
}
