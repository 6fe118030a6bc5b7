package docmap

import (
	"encoding/binary"
	"math"

	"go.etcd.io/bbolt"
)

// A run is a sorted, immutable set of entries in the file.
type run struct {
	runInfo
	shape

	// What is known of the bins: where they are in the mapped file (filled
	// as they are asked for, valid until the run or the mapping changes),
	// and which checksums were right.
	bins   [][]byte
	dirOK  bitset
	blocks bitset
}

func newRun(info runInfo) *run {
	r := &run{runInfo: info, shape: newShape(info.log, info.first, info.last)}
	n := r.shape.bins()
	r.bins = make([][]byte, n)
	r.dirOK = newBitset(n)
	r.blocks = newBitset(n << r.subBits)
	return r
}

// forget drops what is known of where bins are.
func (r *run) forget() { clear(r.bins) }

func (i *runInfo) holds(key uint64) bool { return key >= i.low && key <= i.high }

// complete says that the run is not the target of an unfinished merge.
func (i *runInfo) complete() bool { return i.high == math.MaxUint64 }

func (i *runInfo) bucket() []byte {
	return binary.BigEndian.AppendUint32([]byte("run"), i.id)
}

func binKey(bin uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(bin)) }

// view returns a bin with its directory verified. tx is a transaction in
// which the run is as r says.
func (r *run) view(tx *bbolt.Tx, bin uint64) (binView, error) {
	v := binView{shape: &r.shape, b: r.bins[bin], place: place(r.id, bin), first: r.first}
	if v.b != nil {
		return v, nil
	}
	bucket := tx.Bucket(r.bucket())
	if bucket == nil {
		return v, damage("run %d is missing", r.id)
	}
	v.b = bucket.Get(binKey(bin))
	if v.b == nil {
		return v, damage("run %d: bin %d is missing", r.id, bin)
	}
	if !r.dirOK.has(bin) {
		if err := v.verifyDirectory(); err != nil {
			return v, err
		}
		r.dirOK.set(bin)
	}
	// bbolt keeps a bucket of less than a quarter page inside another page,
	// and moves it whenever that one is written.
	if len(v.b) > pageSize/4 {
		r.bins[bin] = v.b
	}
	return v, nil
}

// find appends the documents of key to dst, up to its capacity.
func (r *run) find(tx *bbolt.Tx, dst []uint32, key uint64) ([]uint32, error) {
	bin := r.binOf(key)
	v, err := r.view(tx, bin)
	if err != nil {
		return dst, err
	}
	sub := int(key << r.binBits >> (64 - r.subBits))
	if at := bin<<r.subBits + uint64(sub); !r.blocks.has(at) {
		if err := v.verifyBlock(sub); err != nil {
			return dst, err
		}
		r.blocks.set(at)
	}
	return v.find(dst, key, sub), nil
}

// collect appends the entries with keys in from..to that the run holds.
func (r *run) collect(tx *bbolt.Tx, e *entries, from, to uint64) error {
	from, to = max(from, r.low), min(to, r.high)
	if from > to {
		return nil
	}
	for bin := r.binOf(from); bin <= r.binOf(to); bin++ {
		v, err := r.view(tx, bin)
		if err != nil {
			return err
		}
		if err := v.appendRange(e, bin, from, to); err != nil {
			return err
		}
	}
	return nil
}
