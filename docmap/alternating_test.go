package docmap

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

// TestAlternatingBatches adds documents of two batches in turn, each of which is a span. What the
// batches add to a checkpoint must not grow with them, and each document must stay in its batch.
func TestAlternatingBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	opt := Options{Scheme: "s", noSync: true}
	tables := map[bool]*Table{true: mustOpen(t, path, opt), false: mustOpen(t, path+"2", opt)}
	docs := 0
	add := func(n int) (more int64) {
		for range n {
			for with, table := range tables {
				if with {
					must(t, table.SetBatch(fmt.Sprint("crawler ", docs%2)))
				}
				_, err := table.addDoc(Doc{ID: fmt.Sprint(docs)}, []uint64{xxh3.HashString(fmt.Sprint(docs))})
				must(t, err)
			}
			docs++
		}
		for with, table := range tables {
			before := writtenBytes(t)
			must(t, table.Checkpoint(nil))
			n := writtenBytes(t) - before
			if !with {
				n = -n
			}
			more += n
		}
		return more
	}
	check := func() {
		must(t, tables[true].Close())
		tables[true] = mustOpen(t, path, opt)
		for num := uint32(1); num <= uint32(docs); num++ {
			if got, want := tables[true].BatchOf(num), fmt.Sprint("crawler ", (num-1)%2); got != want {
				t.Fatalf("document %d is in the batch %q, want %q", num, got, want)
			}
		}
	}
	for docs < 40_000 {
		add(1000)
	}
	for range 100 {
		if more := add(10); more > 64<<10 {
			t.Fatalf("two batches of %d documents add %d bytes to a checkpoint of 10", docs, more)
		}
	}
	check()
	add(20)
	check()
	must(t, tables[true].EndBatch("crawler 1"))
	add(1) // of the first
	must(t, tables[true].Close())
	table := mustOpen(t, path, opt)
	if list := table.Batches(); len(list) != 1 || list[0].Documents != uint32(docs+1)/2 {
		t.Errorf("of %d documents: %v", docs, list)
	}
}

// TestFewLargeSweeps bounds the commits that remove a run left by a crash or a dropped slice: each
// writes the list of free pages.
func TestFewLargeSweeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, Options{Scheme: "s", noSync: true})
	const bins = 5000
	must(t, table.update(func(c *change) {
		name := (&runInfo{id: 77}).bucket()
		for bin := range uint64(bins) {
			c.add(name, bin, make([]byte, 100))
		}
	}))
	commits := 0
	table.committed = func() { commits++ }
	must(t, table.sweep())
	if commits > bins/2048+2 {
		t.Errorf("%d commits", commits)
	}
	must(t, table.db.View(func(tx *bbolt.Tx) error {
		if tx.Bucket(binary.BigEndian.AppendUint32([]byte("run"), 77)) != nil {
			t.Error("the run is still there")
		}
		return nil
	}))
}

// TestFewCommitsWithManyFreePages checks that a flush makes fewer commits if each writes a long list of free
// pages.
func TestFewCommitsWithManyFreePages(t *testing.T) {
	commits := func(pages int) (n int) {
		z := defaultSizes
		z.sliceBytes = 64 << 10
		table := mustOpen(t, filepath.Join(t.TempDir(), "table"), Options{Scheme: "s", MemtableKeys: 200_000, noSync: true, sizes: z})
		name := (&runInfo{id: 77}).bucket()
		must(t, table.update(func(c *change) {
			for bin := range uint64(pages) {
				c.add(name, bin, make([]byte, pageSize/2))
			}
		}))
		must(t, table.sweep())
		s := &stream{seed: 1}
		for !table.memFull() {
			d, keys := s.next()
			_, err := table.addDoc(d, keys)
			must(t, err)
			if !table.memFull() && table.Full() {
				must(t, table.Checkpoint(nil))
			}
		}
		table.committed = func() { n++ }
		must(t, table.Checkpoint(nil))
		return n
	}
	if few, many := commits(1), commits(20_000); many > few/2 {
		t.Errorf("%d commits with many free pages, %d with few", many, few)
	}
}
