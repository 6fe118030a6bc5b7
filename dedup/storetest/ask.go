package storetest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/dedup"
)

// A doc is a document as the suite adds it.
type doc struct {
	id   string
	data string
	keys []uint64
}

// add adds documents in one call and wants the first to be number want.
func add(s dedup.Store, want uint32, docs ...doc) error {
	var ids []string
	var data [][]byte
	var keys [][]uint64
	for _, d := range docs {
		ids, data, keys = append(ids, d.id), append(data, []byte(d.data)), append(keys, d.keys)
	}
	first, err := s.Add(ids, data, keys)
	if err != nil {
		return fmt.Errorf("an Add of %d documents: %w", len(docs), err)
	}
	if first != want {
		return fmt.Errorf("an Add of %d documents gives %d as the first number, want %d", len(docs), first, want)
	}
	return nil
}

// lookup returns the holders of each key. The slices given to the store hold
// something else before.
func lookup(s dedup.Store, keys ...uint64) ([][]uint32, error) {
	const places = dedup.MaxHolders
	holders, n := slices.Repeat([]uint32{7777}, len(keys)*places), bytes.Repeat([]byte{99}, len(keys))
	if err := s.Lookup(keys, holders, n); err != nil {
		return nil, fmt.Errorf("a Lookup of %d keys: %w", len(keys), err)
	}
	found := make([][]uint32, len(keys))
	for i := range keys {
		if n[i] > places {
			return nil, fmt.Errorf("a Lookup of %d keys: key %x has %d holders", len(keys), keys[i], n[i])
		}
		found[i] = holders[i*places:][:n[i]]
	}
	return found, nil
}

// want looks keys up and wants these holders.
func want(s dedup.Store, keys []uint64, holders [][]uint32) error {
	found, err := lookup(s, keys...)
	if err != nil {
		return err
	}
	for i, k := range keys {
		if !slices.Equal(found[i], holders[i]) {
			return fmt.Errorf("a Lookup of %d keys: key %x has the holders %v, want %v", len(keys), k, found[i], holders[i])
		}
	}
	return nil
}

// wantRecords reads documents in one call and wants them to be these.
func wantRecords(s dedup.Store, nums []uint32, docs []doc) error {
	ids, data := make([][]byte, len(nums)), make([][]byte, len(nums))
	if err := s.Records(nums, ids, data); err != nil {
		return fmt.Errorf("reading %v: %w", nums, err)
	}
	for i, d := range docs {
		if string(ids[i]) != d.id || string(data[i]) != d.data {
			return fmt.Errorf("reading %v: document %d is %q with %q, want %q with %q", nums, nums[i], ids[i], data[i], d.id, d.data)
		}
	}
	return nil
}
