package feature_test

import (
	"fmt"
	"log"

	"github.com/firstseen/firstseen/feature"
)

// Two copies of a text, one typed with full-width characters and other
// punctuation, have the same features, and the same whole-text fingerprint.
func Example() {
	e, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		log.Fatal(err)
	}
	texts := []string{
		"Linux 是一种操作系统，由许多人共同编写。It is free.",
		"ＬＩＮＵＸ是一种操作系统；由许多人共同编写！it is FREE",
	}
	var sets [2]feature.Set
	for i, text := range texts {
		e.Extract(&sets[i], []byte(text))
		for _, f := range sets[i].Features {
			fmt.Printf("%d columns, %d units: %s\n", f.Width, f.Units, text[f.Start:f.End])
		}
	}
	fmt.Println(sets[0].Features[0].Key == sets[1].Features[0].Key)
	fmt.Println(sets[0].Whole == sets[1].Whole)
	// Output:
	// 19 columns, 8 units: Linux 是一种操作系统
	// 16 columns, 8 units: 由许多人共同编写
	// 10 columns, 3 units: It is free
	// 19 columns, 8 units: ＬＩＮＵＸ是一种操作系统
	// 16 columns, 8 units: 由许多人共同编写
	// 10 columns, 3 units: it is FREE
	// true
	// true
}

// The canonical form is what is hashed.
func ExampleCanonical() {
	fmt.Printf("%s\n", feature.Canonical(nil, []byte("  Ｓｔｒａße 中　文 ")))
	// Output: strasse中文
}
