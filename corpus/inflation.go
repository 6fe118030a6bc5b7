package corpus

import (
	"fmt"

	"github.com/firstseen/firstseen/corpus/compress"
)

// Inflation counts the decompressed bytes of the bodies of records, over one input after the other. A
// compressed input may hold pages compressed again, each small beside its record. The zero value is
// ready.
type Inflation struct {
	input   int
	decoded int64
}

// Add counts a parsed block. It fails if the bodies of an input have expanded to more than the source
// of the block allows for its stored bytes.
func (n *Inflation) Add(b *Block) error {
	if b.Input != n.input {
		*n = Inflation{input: b.Input}
	}
	n.decoded += b.Inflated
	e := compress.Expansion{Stored: func() int64 { return b.stored }, Decoded: n.decoded, Most: b.maxRatio}
	if err := e.Add(0); err != nil {
		return fmt.Errorf("reading %s: the bodies of its records: %w", b.File, err)
	}
	return nil
}
