package docmap_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/docmap"
)

func Example() {
	dir, err := os.MkdirTemp("", "docmap")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	t, err := docmap.Open(filepath.Join(dir, "table"), docmap.Options{Scheme: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	ids := []string{"first", "second"}
	data := [][]byte{[]byte("what is known"), nil}
	if _, err := t.Add(ids, data, [][]uint64{{0xfeed, 0xbeef}, {0xbeef, 0xcafe}}, nil, nil); err != nil {
		log.Fatal(err)
	}
	if err := t.Checkpoint(nil); err != nil {
		log.Fatal(err)
	}

	keys := []uint64{0xbeef, 0xcafe, 0xdead}
	holders, n := make([]uint32, len(keys)*docmap.MaxHolders), make([]uint8, len(keys))
	if err := t.Lookup(keys, holders, n); err != nil {
		log.Fatal(err)
	}
	for i, key := range keys {
		fmt.Printf("%x:", key)
		for _, num := range holders[i*docmap.MaxHolders:][:n[i]] {
			d, err := t.Doc(num)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf(" %d=%s", num, d.ID)
		}
		fmt.Println()
	}
	// Output:
	// beef: 1=first 2=second
	// cafe: 2=second
	// dead:
}
