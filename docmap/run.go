package docmap

import (
	"encoding/binary"
	"math"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// A run is a sorted, immutable set of entries in the file.
type run struct {
	runInfo
	*sorted.Run
}

func (z *sizes) newRun(info runInfo) *run {
	shape := z.division.Shape(info.log, info.first, info.last)
	return &run{runInfo: info, Run: sorted.NewRun(shape, info.id, info.first)}
}

func (i *runInfo) holds(key uint64) bool { return key >= i.low && key <= i.high }

// complete reports that the run is not the target of an unfinished merge.
func (i *runInfo) complete() bool { return i.high == math.MaxUint64 }

func (i *runInfo) bucket() []byte {
	return binary.BigEndian.AppendUint32([]byte("run"), i.id)
}

func binKey(bin uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(bin)) }

// view returns a bin with its directory verified. The run is in the snapshot as in r.
func (r *run) view(s *snapshot, bin uint64) (sorted.Bin, error) {
	if v, ok := r.Bin(bin); ok {
		return v, nil
	}
	bucket, value, err := r.value(s, bin)
	if err != nil {
		return sorted.Bin{}, err
	}
	// bbolt keeps a small bucket inside another page (its root is then 0), and moves
	// it whenever that one is written.
	v, err := r.Open(bin, value, bucket.Root() != 0)
	return v, damaged(err)
}

func (r *run) value(s *snapshot, bin uint64) (bucket *bbolt.Bucket, value []byte, err error) {
	if bucket = s.tx.Bucket(r.bucket()); bucket == nil {
		return nil, nil, damage("run %d is missing", r.id)
	}
	if value = bucket.Get(binKey(bin)); value == nil {
		return nil, nil, damage("run %d: bin %d is missing", r.id, bin)
	}
	return bucket, value, nil
}

// ahead is the number of bins that a scan requests at a time, about 1 MB.
const ahead = 16

// prefetch asks the system to read the bins after those being scanned, at every ahead-th of them.
// A scan of 51 million keys outside the page cache took 7.3 s without it and takes 1.1 s.
func (r *run) prefetch(s *snapshot, bin uint64) {
	if bin%ahead != 0 {
		return
	}
	bucket := s.tx.Bucket(r.bucket())
	if bucket == nil {
		return // reading the bin reports that
	}
	for next := bin + ahead; next < bin+2*ahead && next < r.Bins(); next++ {
		willNeed(bucket.Get(binKey(next)))
	}
}

// find appends the documents of key to dst, up to its capacity.
func (r *run) find(s *snapshot, dst []uint32, key uint64) ([]uint32, error) {
	v, err := r.view(s, r.BinOf(key))
	if err != nil {
		return dst, err
	}
	dst, err = r.Find(dst, &v, key)
	return dst, damaged(err)
}

// collect appends the run's entries with keys in from..to.
func (r *run) collect(s *snapshot, e *sorted.Entries, from, to uint64) error {
	from, to = max(from, r.low), min(to, r.high)
	if from > to {
		return nil
	}
	for bin := r.BinOf(from); bin <= r.BinOf(to); bin++ {
		v, err := r.view(s, bin)
		if err != nil {
			return err
		}
		if err := v.AppendRange(e, from, to); err != nil {
			return damaged(err)
		}
	}
	return nil
}
