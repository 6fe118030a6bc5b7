package corpus

import (
	"fmt"

	"github.com/firstseen/firstseen/corpus/compress"
)

// Inflation counts what the bodies of records are decompressed to, over one input after the
// other: a compressed input may hold pages that are compressed again, each little beside its
// record. Its zero value is ready.
type Inflation struct {
	input   int
	decoded int64
}

// Add counts a block that was parsed. It fails where the bodies of an input have expanded to
// more than the source of the block allows for what is stored of it.
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
