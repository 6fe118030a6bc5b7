package similarity_test

import (
	"fmt"

	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

func Example() {
	a := similarity.New("one two three four five six seven eight")
	b := similarity.New("One, two, three, four, five, six, seven, nine.")
	jaccard, containment := similarity.Jaccard(a, b)
	lcs, _ := similarity.LCSWithin(a, b, similarity.MaxSteps)
	fmt.Printf("%.2f %.2f %.3f\n", jaccard, containment, lcs)
	// Output: 0.60 0.75 0.875
}
