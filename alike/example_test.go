package alike_test

import (
	"fmt"

	"github.com/firstseen/firstseen/alike"
)

func Example() {
	a := alike.New("one two three four five six seven eight")
	b := alike.New("One, two, three, four, five, six, seven, nine.")
	jaccard, containment := alike.Jaccard(a, b)
	fmt.Printf("%.2f %.2f %.3f\n", jaccard, containment, alike.LCS(a, b))
	// Output: 0.60 0.75 0.875
}
