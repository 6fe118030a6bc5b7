package index_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/firstseen/firstseen/index"
)

// An index remembers documents in a directory for the next program that opens it.
func Example() {
	dir, err := os.MkdirTemp("", "seen-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, id := range []string{"today", "tomorrow"} {
		x, err := index.Open(context.Background(), dir, index.Options{})
		if err != nil {
			log.Fatal(err)
		}
		r, err := x.See(id, []byte("The ferry leaves the harbour at seven."))
		if err == nil {
			fmt.Printf("%s: %v, kept: %v\n", id, r.Verdict, r.Kept)
			err = x.Finish(nil) // makes the documents durable and saves the filter
		}
		if err = errors.Join(err, x.Close()); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// today: unique, kept: true
	// tomorrow: duplicate, kept: false
}
