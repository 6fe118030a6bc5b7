package canon_test

import (
	"fmt"

	"github.com/firstseen/firstseen/feature/canon"
)

func Example() {
	s := canon.NewScanner()
	s.Reset([]byte("　在２０２４年用 Ｇｏ  Language: 1 ≤ x"))
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			fmt.Printf("%q, %d columns, %d words\n", s.Form(), s.Width(), s.Units())
		}
	}
	fmt.Printf("%q\n", s.Text())
	// Output:
	// "在2024年用go language", 21 columns, 6 words
	// "1", 1 columns, 1 words
	// "x", 1 columns, 1 words
	// "在2024年用go language 1 ≤ x"
}
