package feature_test

import (
	"fmt"

	"github.com/firstseen/firstseen/feature"
)

func Example() {
	e, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		panic(err) // only for an invalid Scheme
	}
	a := []byte("Readers know this text. “It isn’t new,” they say; the title changed.")
	b := []byte("NEW TITLE!\r\nReaders  know this TEXT - \"it isn't new\", they say.")
	var first, second feature.Set
	e.Extract(&first, a)
	e.Extract(&second, b)

	seen := map[uint64]bool{}
	for _, f := range first.Features {
		seen[f.Key] = true
	}
	for _, f := range second.Features[:second.Parts()] {
		fmt.Printf("%q, %d columns, seen before: %v\n", b[f.Start:f.End], f.Width, seen[f.Key])
	}
	// Output:
	// "Readers  know this TEXT", 22 columns, seen before: true
	// "it isn't new", 12 columns, seen before: true
}
