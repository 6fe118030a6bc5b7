package bloomstore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/bloomstore"
)

func Example() {
	f, err := bloomstore.New(bloomstore.ForItems(1_000_000), "example-v1")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	f.Add([]uint64{10, 20, 30})
	seen := make([]bool, 3)
	keys := []uint64{20, 40, 50}
	f.Test(keys, seen)
	f.Add(keys)
	fmt.Println(seen, f.Items(), "keys,", f.Ones(), "ones")

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "filter")
	if err := f.Save(context.Background(), path, []byte("state 1")); err != nil {
		log.Fatal(err)
	}
	again, stamp, err := bloomstore.Open(context.Background(), path, "example-v1")
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	again.Test([]uint64{40, 60}, seen)
	fmt.Println(string(stamp), seen[:2])
	// Output:
	// [true false false] 6 keys, 40 ones
	// state 1 [true false]
}

func ExampleShape() {
	s := bloomstore.ForMemory(1 << 30)
	n := s.Capacity()
	fmt.Printf("%d keys, %.3e at that load, %.3e at twice the load\n",
		n, s.FalsePositiveRate(n), s.FalsePositiveRate(2*n))
	// Output: 536870912 keys, 5.745e-04 at that load, 2.549e-02 at twice the load
}
