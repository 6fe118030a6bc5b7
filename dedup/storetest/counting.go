package storetest

import (
	"fmt"

	"github.com/firstseen/firstseen/dedup"
)

// onlyCounting adds documents that only count, if a store has such. Each takes a number and a place
// among the holders, and is returned as one that only counts.
func onlyCounting(s dedup.Store) error {
	counting, ok := s.(dedup.CountingStore)
	if !ok {
		return nil
	}
	const n = 12
	var ids []string
	var data [][]byte
	var keys [][]uint64
	var marks []bool
	for i := range n {
		ids, data, keys = append(ids, ""), append(data, []byte("data")), append(keys, []uint64{1, uint64(i/2) + 100})
		marks = append(marks, i%3 > 0)
	}
	first, err := counting.AddCounted(ids, data, keys, make([]uint32, n), marks)
	if err != nil || first != 1 {
		return fmt.Errorf("adding documents that only count: the first is %d, %w", first, err)
	}
	if err := add(s, n+1, doc{"a", "b", []uint64{1, 105, 7}}); err != nil {
		return err
	}
	const c = dedup.Counted
	return want(s, []uint64{1, 100, 102, 105, 7}, [][]uint32{
		{1, c, c, 4, c, c, 7, c}, {1, c}, {c, c}, {c, c, n + 1}, {n + 1},
	})
}
