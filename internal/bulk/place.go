package bulk

import "fmt"

// A Place says which key of which document of which shard: 63 bits, in the order of the run, so that
// it is a positive number for engines without unsigned ones.
type Place uint64

const (
	slotBits     = 11 // a document has at most 1024 features and a whole text
	documentBits = 36

	// MaxShards is the most shards of a set, MaxDocuments the most documents of a shard.
	MaxShards    = 1 << 16
	MaxDocuments = 1 << documentBits
	maxSlots     = 1 << slotBits
)

// placeOf is the place of a key: shard from 0, document and slot from 0.
func placeOf(shard int, document uint64, slot int) Place {
	return Place(uint64(shard)<<(documentBits+slotBits) | document<<slotBits | uint64(slot))
}

func (p Place) shard() int       { return int(p >> (documentBits + slotBits)) }
func (p Place) document() uint64 { return uint64(p) >> slotBits & (MaxDocuments - 1) }
func (p Place) slot() int        { return int(p & (maxSlots - 1)) }

// owner is the place of the document's first key: equal for all keys of a document.
func (p Place) owner() Place { return p &^ (maxSlots - 1) }

func (p Place) String() string {
	return fmt.Sprintf("%d (shard %d, document %d, key %d)", uint64(p), p.shard()+1, p.document()+1, p.slot()+1)
}

// A Row says that a key stands at a place.
type Row struct {
	Key   uint64
	Place Place
}
