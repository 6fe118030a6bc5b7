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
	// as they are asked for, valid in snapshots until the run or the mapping
	// changes), their directories, and which checksums were right. A directory of a
	// run of 500 million entries takes 8 MB here; in the file, reading it
	// would be one more page out of the reach of the TLB for every look-up.
	bins   [][]byte
	counts []uint16 // subs+1 for each bin
	dirOK  bitset
	blocks bitset
}

func (z *sizes) newRun(info runInfo) *run {
	r := &run{runInfo: info, shape: z.shape(info.log, info.first, info.last)}
	n := r.shape.bins()
	r.bins = make([][]byte, n)
	r.counts = make([]uint16, n*uint64(r.subs()+1))
	r.dirOK = newBitset(n)
	r.blocks = newBitset(n << r.subBits)
	return r
}

// forget drops what is known of where bins are.
func (r *run) forget() { clear(r.bins) }

// remember keeps the place and the directory of a verified bin, if that is
// possible: bbolt keeps a small bucket inside another page (its root is then
// 0), and moves it whenever that one is written; and keys that are not uniform
// may have bins too large for the short directory.
func (r *run) remember(bucket *bbolt.Bucket, bin uint64, v *binView) {
	n := v.subs()
	if bucket.Root() == 0 || v.count(n) > math.MaxUint16 {
		return
	}
	counts := r.counts[bin*uint64(n+1):][:n+1]
	for i := range counts {
		counts[i] = uint16(v.count(i))
	}
	r.bins[bin] = v.b
}

func (i *runInfo) holds(key uint64) bool { return key >= i.low && key <= i.high }

// complete says that the run is not the target of an unfinished merge.
func (i *runInfo) complete() bool { return i.high == math.MaxUint64 }

func (i *runInfo) bucket() []byte {
	return binary.BigEndian.AppendUint32([]byte("run"), i.id)
}

func binKey(bin uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(bin)) }

// view returns a bin with its directory verified. The run is in the snapshot
// as r says.
func (r *run) view(s *snapshot, bin uint64) (binView, error) {
	v := binView{shape: &r.shape, b: r.bins[bin], place: place(r.id, bin), first: r.first}
	if v.b != nil {
		return v, nil
	}
	bucket := s.tx.Bucket(r.bucket())
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
	r.remember(bucket, bin, &v)
	return v, nil
}

// ahead is how many bins a scan asks for at a time, 1 MB or so.
const ahead = 16

// prefetch has the system read the bins after those a scan is at, at every
// ahead-th of them. A scan of 51 million keys that were not in the page cache
// took 7.3 s without it and takes 1.1 s.
func (r *run) prefetch(s *snapshot, bin uint64) {
	if bin%ahead != 0 {
		return
	}
	bucket := s.tx.Bucket(r.bucket())
	if bucket == nil {
		return // whoever reads the bin will say so
	}
	for next := bin + ahead; next < bin+2*ahead && next < r.shape.bins(); next++ {
		willNeed(bucket.Get(binKey(next)))
	}
}

// subOf returns the sub-block of its bin a key belongs to.
func (r *run) subOf(key uint64) int { return int(key << r.binBits >> (64 - r.subBits)) }

// find appends the documents of key to dst, up to its capacity.
func (r *run) find(s *snapshot, dst []uint32, key uint64) ([]uint32, error) {
	bin, sub := r.binOf(key), r.subOf(key)
	v, err := r.view(s, bin)
	if err != nil {
		return dst, err
	}
	if at := bin<<r.subBits + uint64(sub); !r.blocks.has(at) {
		if err := v.verifyBlock(sub); err != nil {
			return dst, err
		}
		r.blocks.set(at)
	}
	b, n := v.block(sub)
	return r.search(dst, b, n, key), nil
}

// locate returns the sub-block a key belongs to, how many entries it has and
// where in it a search is likely to look for the bucket and for the low bits:
// keys are uniform. b is nil where it is not known yet where the sub-block is
// or that it is right.
func (r *run) locate(key uint64) (b []byte, n, upper, low int) {
	bin, sub := r.binOf(key), r.subOf(key)
	value := r.bins[bin]
	if value == nil || !r.blocks.has(bin<<r.subBits+uint64(sub)) {
		return nil, 0, 0, 0
	}
	at := bin*uint64(r.subs()+1) + uint64(sub)
	c, next := uint32(r.counts[at]), uint32(r.counts[at+1])
	b, n = value[r.offset(sub, c):r.offset(sub+1, next)+8], int(next-c)
	bucket := int(key>>r.lowBits) & (r.buckets - 1)
	entry := bucket * n >> r.blockBits
	upper = blockCheck + (bucket+entry)/8
	low = blockCheck + (r.buckets+n+entry*int(r.lowBits))/8
	return b, n, upper, low
}

// search appends the documents of key to dst, up to its capacity, from the
// key's sub-block of n entries.
func (r *run) search(dst []uint32, b []byte, n int, key uint64) []uint32 {
	at, m := findBucket(b, int(key>>r.lowBits)&(r.buckets-1))
	low, doc := uint64(r.lowBits), uint64(r.docBits)
	start := uint64(8*blockCheck + r.buckets + n)
	mask := uint64(1)<<low - 1
	want := key & mask
	for j := uint64(at); j < uint64(at+m) && len(dst) < cap(dst); j++ {
		if got := load(b, start+j*low, mask); got != want {
			continue
		}
		num := load(b, start+uint64(n)*low+j*doc, uint64(1)<<doc-1)
		dst = append(dst, r.first+uint32(num))
	}
	return dst
}

// collect appends the entries with keys in from..to that the run holds.
func (r *run) collect(s *snapshot, e *entries, from, to uint64) error {
	from, to = max(from, r.low), min(to, r.high)
	if from > to {
		return nil
	}
	for bin := r.binOf(from); bin <= r.binOf(to); bin++ {
		v, err := r.view(s, bin)
		if err != nil {
			return err
		}
		if err := v.appendRange(e, bin, from, to); err != nil {
			return err
		}
	}
	return nil
}
