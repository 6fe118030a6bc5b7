package dedup_test

import (
	"fmt"
	"log"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// This example uses no files: it decides documents one by one, with everything in memory.
func Example() {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		log.Fatal(err)
	}
	for _, doc := range []struct{ id, text string }{
		{"monday", "The ferry leaves the harbour at seven. It returns long after nightfall, when the market has closed."},
		{"tuesday", "Notice! The FERRY leaves the harbour at seven; it returns long after nightfall, when the market has closed"},
		{"wednesday", "A museum of clocks opened its doors on Wednesday, and nobody came on time."},
		{"thursday", "The ferry leaves the harbour at seven. It returns long after nightfall, when the market has closed."},
	} {
		r, err := d.See(doc.id, []byte(doc.text))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %v", doc.id, r.Verdict)
		if r.Verdict == dedup.Duplicate {
			fmt.Printf(" of %s, exact: %v, %d of %d segments", r.Of.ID, r.Exact, r.Of.Shared, r.Segments)
		}
		fmt.Println()
	}
	// Output:
	// monday: unique
	// tuesday: duplicate of monday, exact: false, 3 of 3 segments
	// wednesday: unique
	// thursday: duplicate of monday, exact: true, 3 of 3 segments
}

// Without a table, memory is that of the filter, fixed from the start, and no witness is named.
func ExampleNew_filterOnly() {
	scheme := feature.Scheme{}
	filter, err := bloomstore.New(bloomstore.ForItems(10_000), scheme.Name())
	if err != nil {
		log.Fatal(err)
	}
	defer filter.Close()
	d, err := dedup.New(dedup.Config{Scheme: scheme, Filter: filter})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		r, err := d.See("", []byte("短信：明天下午三点在老地方见。"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Verdict, r.Kept)
	}
	// Output:
	// unique true
	// duplicate false
}
