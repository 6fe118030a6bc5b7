package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/firstseen/firstseen/dedup"
)

// byReader asks a shared store by one of its readers.
type byReader struct {
	dedup.SharedStore
	reader int
}

func (b byReader) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	return b.LookupBy(b.reader, keys, holders, n)
}

func (b byReader) Records(nums []uint32, ids, data [][]byte) error {
	return b.RecordsBy(b.reader, nums, ids, data)
}

func atOnce(tasks int, f func(task int)) {
	var wg sync.WaitGroup
	for task := range tasks {
		wg.Go(func() { f(task) })
	}
	wg.Wait()
}

// severalReaders checks that a store which several can ask at once answers all the same, after each
// batch. It checks nothing of another store.
func severalReaders(s dedup.Store) error {
	shared, ok := s.(dedup.SharedStore)
	if !ok {
		return nil
	}
	const readers = 3
	if n := shared.Documents(); n > 0 {
		return fmt.Errorf("of no documents there are %d", n)
	}
	w := &world{holders: map[uint64][]uint32{}}
	for batch := range 4 {
		docs := randomDocs(rand.New(rand.NewPCG(5, uint64(batch))), 60)
		if err := shared.Share(readers, atOnce); err != nil {
			return err
		}
		if err := w.add(s, docs); err != nil {
			return err
		}
		if n := shared.Documents(); int(n) != len(w.docs) {
			return fmt.Errorf("of %d documents there are %d", len(w.docs), n)
		}
		if err := shared.Share(readers, atOnce); err != nil {
			return err
		}
		errs := make([]error, readers)
		atOnce(readers, func(i int) { errs[i] = w.equal(byReader{shared, i}, 50) })
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("several at once: %w", err)
		}
	}
	return nil
}
