package dedup_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// BenchmarkDecide decides copies, related documents and mosaics of a table, one per operation, and
// remembers nothing. See also copies the result.
func BenchmarkDecide(b *testing.B) {
	w := newTextWorld(7, nil)
	d, err := dedup.New(dedup.Config{Scheme: w.scheme, Table: &dedup.Memory{}})
	if err != nil {
		b.Fatal(err)
	}
	var docs []dedup.Document
	for i := range 2000 {
		docs = append(docs, dedup.Document{ID: fmt.Sprint(i), Sketch: cloned(w.document())})
		if _, err := d.Decide(docs[i]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := d.Judge(docs[i%len(docs)]); err != nil {
			b.Fatal(err)
		}
	}
}

func cloned(s *feature.Sketch) *feature.Sketch {
	c := *s
	c.Features = slices.Clone(s.Features)
	return &c
}
