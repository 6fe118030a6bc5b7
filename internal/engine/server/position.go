package server

import (
	"fmt"

	"github.com/zeebo/xxh3"
)

// position is a place in the history of an index: how many entries its servers have written, and the
// digest of them all. Two indexes at equal positions have had the same entries.
type position struct {
	Entries uint64 `json:"entries"`
	Chain   uint64 `json:"chain"`
}

// add moves the position behind an encoded entry.
func (p *position) add(entry []byte) {
	p.Entries++
	p.Chain = xxh3.HashSeed(entry, p.Chain)
}

func (p position) String() string { return fmt.Sprintf("%d-%016x", p.Entries, p.Chain) }

func parsePosition(s string) (p position, err error) {
	if n, bad := fmt.Sscanf(s, "%d-%x", &p.Entries, &p.Chain); n != 2 || bad != nil || p.String() != s {
		err = fmt.Errorf("%q is no position: want the number of entries, a hyphen and 16 hexadecimal digits", s)
	}
	return p, err
}
