package dedup_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/firstseen/firstseen/dedup"
)

func empty(s dedup.Store) error {
	if c, ok := s.(interface{ Closed() bool }); ok && c.Closed() {
		return errors.New("a new store is closed")
	}
	w := &storeModel{}
	return cmp.Or(w.lookup(s, extreme...), w.equal(s, 1))
}

// recordsAreCopies checks that results of Records stay valid during Add and Lookup.
func recordsAreCopies(s dedup.Store) error {
	w := &storeModel{}
	first, second := doc{id: "first", data: "data of it", keys: keys{1}}, doc{id: "second", data: "of another", keys: keys{2}}
	if err := w.add(s, first, second); err != nil {
		return err
	}
	ids, data := make([][]byte, 2), make([][]byte, 2)
	if err := s.Records([]uint32{1, 2}, ids, data); err != nil {
		return err
	}
	if err := cmp.Or(w.add(s, doc{id: "third", data: "and more", keys: keys{3}}), w.lookup(s, 1)); err != nil {
		return err
	}
	if string(ids[0]) != first.id || string(data[0]) != first.data || string(ids[1]) != second.id || string(data[1]) != second.data {
		return fmt.Errorf("results of Records changed to %q, %q after an Add and a Lookup", ids, data)
	}
	return nil
}

func unknownKeys(s dedup.Store) error {
	const key = 0x123456789abcdef0
	w := &storeModel{}
	if err := w.add(s, doc{id: "a", keys: keys{key}}); err != nil {
		return err
	}
	ask := keys{key}
	for bit := range 64 {
		ask = append(ask, key^1<<bit)
	}
	return w.lookup(s, ask...)
}

func emptyBatches(s dedup.Store) error {
	if _, err := s.Add(nil, nil, nil, nil, nil); err != nil {
		return fmt.Errorf("an Add of no documents: %w", err)
	}
	w := &storeModel{}
	return cmp.Or(w.add(s, doc{id: "a", keys: keys{1}}), s.Lookup(nil, nil, nil), s.Records(nil, nil, nil), w.equal(s, 1))
}

// slicesReused checks that the store keeps none of the caller's slices.
func slicesReused(s dedup.Store) error {
	data, list := []byte("data"), keys{1, 2, 3}
	ids, all, lists, marks := []string{"a"}, [][]byte{data}, [][]uint64{list}, []bool{false}
	if _, err := s.Add(ids, all, lists, nil, marks); err != nil {
		return err
	}
	copy(data, "over")
	copy(list, keys{7, 8, 9})
	ids[0], all[0], lists[0], marks[0] = "X", nil, nil, true
	w := &storeModel{docs: []doc{{id: "a", data: "data"}}, holders: map[uint64][]uint32{1: {1}, 2: {1}, 3: {1}}}
	return cmp.Or(w.equal(s, 1), w.lookup(s, 1, 3, 7, 9))
}

// closed checks that a store with Close reports it and then answers nothing.
func closed(s dedup.Store) error {
	c, ok := s.(interface{ Close() error })
	if !ok {
		return nil
	}
	state, ok := s.(interface{ Closed() bool })
	if !ok {
		return errors.New("it has Close but not Closed: a Deduper would go on using it")
	}
	w := &storeModel{}
	if err := w.add(s, doc{id: "a", keys: keys{1}}); err != nil {
		return err
	}
	if err := cmp.Or(c.Close(), c.Close()); err != nil {
		return fmt.Errorf("closing twice: %w", err)
	}
	if !state.Closed() {
		return errors.New("it is not Closed after Close")
	}
	for what, err := range map[string]error{
		"Add":     w.add(s, doc{id: "b"}),
		"Lookup":  w.lookup(s, 1),
		"Records": w.records(s, []uint32{1}),
	} {
		if err == nil {
			return fmt.Errorf("%s on a closed store returns no error", what)
		}
	}
	return nil
}

func atOnce(tasks int, f func(task int)) {
	var wg sync.WaitGroup
	for task := range tasks {
		wg.Go(func() { f(task) })
	}
	wg.Wait()
}

// severalReaders checks that a SharedStore answers concurrent readers alike. It skips other stores.
func severalReaders(s dedup.Store) error {
	shared, ok := s.(dedup.SharedStore)
	if !ok {
		return nil
	}
	const readers = 3
	w := &storeModel{}
	for batch := range 4 {
		if n := shared.Documents(); int(n) != len(w.docs) {
			return fmt.Errorf("%d documents were added, and Documents returns %d", len(w.docs), n)
		}
		docs := randomDocs(rand.New(rand.NewPCG(5, uint64(batch))), 60)
		if err := cmp.Or(shared.Share(readers, atOnce), w.add(s, docs...), shared.Share(readers, atOnce)); err != nil {
			return err
		}
		errs := make([]error, readers)
		atOnce(readers, func(i int) { errs[i] = w.equal(shared.Asker(i), 50) })
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("concurrent readers: %w", err)
		}
	}
	return nil
}
