package docmap

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// contentAfter reimplements the rule of docs/format.md, "The table record".
func contentAfter(content uint64, num uint32, d Doc, keys []uint64) uint64 {
	le := binary.LittleEndian
	rest := append(binary.AppendUvarint(nil, uint64(len(d.Data))), d.Data...)
	rest = append(rest, d.ID...)
	record := le.AppendUint32(nil, uint32(xxh3.HashSeed(rest, 5<<56+uint64(num))))
	record = append(record, rest...)
	list := binary.AppendUvarint(nil, uint64(len(keys)))
	for _, k := range keys {
		list = le.AppendUint64(list, k)
	}
	return xxh3.HashSeed(list, xxh3.HashSeed(record, content))
}

type docWithKeys struct {
	Doc
	keys []uint64
}

// contentOf adds documents, with a checkpoint after every `every` of them, and reopens the table.
func contentOf(t *testing.T, docs []docWithKeys, every, memtable int) uint64 {
	t.Helper()
	opt := smallOptions
	opt.MemtableKeys = memtable
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, opt)
	for i, d := range docs {
		if _, err := table.addDoc(d.Doc, d.keys); err != nil {
			t.Fatal(err)
		}
		if (i+1)%every != 0 && i+1 < len(docs) {
			continue
		}
		if err := table.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := table.Close(); err != nil {
				t.Fatal(err)
			}
			table = mustOpen(t, path, opt)
		}
	}
	return table.Generation().Content
}

func someDocs() []docWithKeys {
	var docs []docWithKeys
	for i := range uint64(40) {
		docs = append(docs, docWithKeys{
			Doc{ID: fmt.Sprint(i), Data: fmt.Append(nil, "data of ", i*i)[:i%10]},
			[]uint64{i, i * i, 7, 7}[:i%5%4+1],
		})
	}
	return docs
}

// TestContentIsOfTheDocumentsAlone checks that the content is a function of the documents alone.
func TestContentIsOfTheDocumentsAlone(t *testing.T) {
	want := uint64(0)
	docs := someDocs()
	for i, d := range docs {
		want = contentAfter(want, uint32(i+1), d.Doc, d.keys)
	}
	for _, c := range [][2]int{{1 << 20, 1 << 20}, {1, 1 << 20}, {1, 10}, {7, 10}, {7, 1 << 20}} {
		if got := contentOf(t, docs, c[0], c[1]); got != want {
			t.Errorf("a checkpoint every %d documents, %d keys in memory: content %x, want %x", c[0], c[1], got, want)
		}
	}
	if got := contentOf(t, nil, 1, 10); got != 0 {
		t.Errorf("the content of no documents is %x", got)
	}
}

// TestContentTellsDocumentsApart checks that any difference in a document changes the content.
func TestContentTellsDocumentsApart(t *testing.T) {
	seen := map[uint64]string{contentOf(t, someDocs(), 5, 50): "nothing"}
	for name, change := range map[string]func(d *docWithKeys){
		"id":        func(d *docWithKeys) { d.ID = "another" },
		"data":      func(d *docWithKeys) { d.Data = []byte("daTa") },
		"more data": func(d *docWithKeys) { d.Data = append(slices.Clone(d.Data), 0) },
		"no data":   func(d *docWithKeys) { d.Data = nil },
		"border":    func(d *docWithKeys) { d.ID, d.Data = string(d.Data[2:])+d.ID, d.Data[:2] },
		"a key":     func(d *docWithKeys) { d.keys = append(slices.Clone(d.keys[1:]), 12345) },
		"no keys":   func(d *docWithKeys) { d.keys = nil },
		"repeated":  func(d *docWithKeys) { d.keys = append(slices.Clone(d.keys), d.keys[0]) },
		"reversed":  func(d *docWithKeys) { d.keys = slices.Clone(d.keys); slices.Reverse(d.keys) },
	} {
		docs := someDocs()
		change(&docs[13])
		if same, ok := seen[contentOf(t, docs, 5, 50)]; ok {
			t.Errorf("another %s gives the same content as another %s", name, same)
		}
		seen[contentOf(t, docs, 5, 50)] = name
	}
	docs := someDocs()
	docs[3], docs[4] = docs[4], docs[3]
	if same, ok := seen[contentOf(t, docs, 5, 50)]; ok {
		t.Errorf("another order gives the same content as another %s", same)
	}
	if same, ok := seen[contentOf(t, someDocs()[:39], 5, 50)]; ok {
		t.Errorf("a document less gives the same content as another %s", same)
	}
}

// TestGenerationIsOfTheLastCheckpoint checks that lost documents do not affect the next generation.
func TestGenerationIsOfTheLastCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	docs := someDocs()
	add := func(i int) {
		t.Helper()
		if _, err := table.addDoc(docs[i].Doc, docs[i].keys); err != nil {
			t.Fatal(err)
		}
	}
	add(0)
	if g := table.Generation(); g != (Generation{UUID: smallOptions.UUID}) {
		t.Fatalf("before any checkpoint: %+v", g)
	}
	if err := table.Checkpoint(nil); err != nil {
		t.Fatal(err)
	}
	first := table.Generation()
	if first.Sequence != 1 || first.Content != contentAfter(0, 1, docs[0].Doc, docs[0].keys) {
		t.Fatalf("after the first checkpoint: %+v", first)
	}
	add(1)
	if got := table.Generation(); got != first {
		t.Fatalf("a document not in a checkpoint changed it to %+v", got)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	table = mustOpen(t, path, smallOptions)
	if got := table.Generation(); got != first {
		t.Fatalf("opened again: %+v, want %+v", got, first)
	}
	add(2)
	if err := table.Checkpoint(nil); err != nil {
		t.Fatal(err)
	}
	if got, want := table.Generation().Content, contentAfter(first.Content, 2, docs[2].Doc, docs[2].keys); got != want {
		t.Fatalf("content %x, want %x", got, want)
	}
}
