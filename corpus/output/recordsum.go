package output

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// RecordSum is the checksum of a record, without its end.
func RecordSum(raw []byte) uint64 { return xxh3.Hash(raw) }

// AddRecord adds a record to the checksum of the records before it, whose order it
// holds fast. The sum of no record is 0.
func AddRecord(sum, record uint64) uint64 {
	return (bits.RotateLeft64(sum*0x9e3779b97f4a7c15, 29) + record) | 1
}
