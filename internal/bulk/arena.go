package bulk

import "encoding/binary"

const slabBytes = 4 << 20

// arena holds pairs of an id and data, one after the other in slabs, so that the garbage collector has
// little to look at. An entry longer than a slab has one of its own.
type arena struct {
	slabs [][]byte
	total int64
}

// add returns the place of an entry: slab and offset.
func (a *arena) add(id string, data []byte) uint64 {
	need := len(id) + len(data) + 2*binary.MaxVarintLen64
	if n := len(a.slabs); n == 0 || cap(a.slabs[n-1])-len(a.slabs[n-1]) < need {
		a.slabs = append(a.slabs, make([]byte, 0, max(slabBytes, need)))
		a.total += int64(max(slabBytes, need))
	}
	slab := &a.slabs[len(a.slabs)-1]
	at := len(*slab)
	*slab = append(binary.AppendUvarint(*slab, uint64(len(id))), id...)
	*slab = append(binary.AppendUvarint(*slab, uint64(len(data))), data...)
	return uint64(len(a.slabs)-1)<<32 | uint64(at)
}

func (a *arena) at(place uint64) (id, data []byte) {
	b := a.slabs[place>>32][uint32(place):]
	take := func() (field []byte) {
		n, size := binary.Uvarint(b)
		field, b = b[size:][:n:n], b[size+int(n):]
		return field
	}
	id = take()
	return id, take()
}

func (a *arena) bytes() int64 { return a.total }

// used is how much of it entries take.
func (a *arena) used() (n int64) {
	for _, slab := range a.slabs {
		n += int64(len(slab))
	}
	return n
}
