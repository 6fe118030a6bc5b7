package docmap

import (
	"cmp"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// sizes determine the layout of runs and the pace of merging. Tests use smaller ones.
type sizes struct {
	division sorted.Division
	// low runs of level 0 or 1 become one, and high runs of a higher level.
	low, high int
	// sliceBytes bounds the values in one transaction of a flush or merge; see mostValues.
	sliceBytes int
}

// defaultSizes are measured: merging more at once would write less and leave more runs to search.
// Low levels have few keys and many runs. From level 2 on, a run has 100 million keys. There,
// merging four at once cost the tenth million of documents 4 µs each, and saved a look-up two runs
// of ten.
var defaultSizes = sizes{division: sorted.DefaultDivision, low: 4, high: 8, sliceBytes: 4 << 20}

// mostValues returns the bytes of values to write in one transaction of a flush or merge. Each commit
// writes the list of free pages, 14 MB in a window of 50 million documents. So a transaction writes
// twice the list, up to four times sliceBytes.
func (t *Table) mostValues() int {
	list := 8 * t.db.Stats().FreePageN
	return min(max(t.sizes.sliceBytes, 2*list), 4*t.sizes.sliceBytes)
}

func (z *sizes) fanIn(level int) int {
	if level < 2 {
		return z.low
	}
	return z.high
}

// window returns the number of flushes between two merges of a level.
func (z *sizes) window(level int) int {
	n := 1
	for l := range level + 1 {
		n *= z.fanIn(l)
	}
	return n
}

// pace returns the share of a merge to do after each flush. The level's next merge starts no sooner
// than a window of flushes later; this one ends after three quarters of that. So the work of a
// flush is bounded and even: each active merge adds four thirds of the flush's own writes.
func (z *sizes) pace(level int) float64 { return 4.0 / 3 / float64(z.window(level)) }

// A run is a sorted, immutable set of entries in the file.
type run struct {
	runInfo
	*sorted.Run
}

func (z *sizes) newRun(info runInfo) *run {
	shape := z.division.Shape(info.log, info.first, info.last)
	return &run{runInfo: info, Run: sorted.NewRun(shape, info.id, info.first)}
}

// EntryMemory is the most memory, in bytes, for look-ups of an entry of a run: a bin has 4,096 entries
// or more, and a merge needs those of sources and target.
const EntryMemory = 2 * float64(sorted.BinMemory) / 4096

func (i *runInfo) holds(key uint64) bool { return key >= i.low && key <= i.high }

func (i *runInfo) bucket() []byte {
	return binary.BigEndian.AppendUint32([]byte("run"), i.id)
}

func binKey(bin uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(bin)) }

// view returns a bin with its directory verified. r must describe the run as in the snapshot.
func (r *run) view(s *snapshot, bin uint64) (sorted.Bin, error) {
	if v, ok := r.Bin(bin); ok {
		return v, nil
	}
	bucket, value, err := r.value(s, bin)
	if err != nil {
		return sorted.Bin{}, err
	}
	// bbolt stores a small bucket, of root 0, inside another page, and moves it with that page.
	return r.Open(bin, value, bucket.Root() != 0)
}

func (r *run) value(s *snapshot, bin uint64) (bucket *bbolt.Bucket, value []byte, err error) {
	if bucket = s.tx.Bucket(r.bucket()); bucket == nil {
		return nil, nil, damage("run %d is missing", r.id)
	}
	if value, err = s.get(bucket, binKey(bin)); err == nil && value == nil {
		err = damage("run %d: bin %d is missing", r.id, bin)
	}
	return bucket, value, err
}

// ahead is the number of bins that a scan requests at once, about 1 MB.
const ahead = 16

// prefetch asks the system to read the next bins of a scan, at every ahead-th bin. It cut a scan of
// 51 million keys outside the page cache from 7.3 s to 1.1 s.
func (r *run) prefetch(s *snapshot, bin uint64) {
	if bin%ahead != 0 {
		return
	}
	for next := bin + ahead; next < bin+2*ahead && next < r.Bins(); next++ {
		_, value, _ := r.value(s, next) // reading the bin returns the error
		willNeed(value)
	}
}

// find appends the documents of key to dst, up to its capacity.
func (r *run) find(s *snapshot, dst []uint32, key uint64) ([]uint32, error) {
	v, err := r.view(s, r.BinOf(key))
	if err != nil {
		return dst, err
	}
	return r.Find(dst, &v, key)
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
			return err
		}
	}
	return nil
}

// Several goroutines pack bins in rounds, because collecting and sorting entries is nearly all the
// work of a flush or merge. A bin's bytes depend only on its entries. A single goroutine writes.

const (
	// mostPackers bounds the memory for packing bins, a quarter of a MiB each.
	mostPackers = 16
	// roundBins is the number of bins packed before any is written. It does not depend on the
	// number of goroutines, because the ends of transactions depend on it.
	roundBins = 32
)

// packed is a bin to write. Its buffer is reused.
type packed struct {
	value []byte
	n     int // entries
	err   error
}

// pack builds the bins of r from number bin on, one for each element of out, from r's shape alone.
func (t *Table) pack(r *run, bin uint64, out []packed, from *space) error {
	by := t.spread
	by.Parts = min(by.Parts, mostPackers)
	source := cmp.Or(t.source, t)
	if _, err := source.reading(); err != nil { // drops bin addresses of an earlier mapping
		return err
	}
	readers := source.sharing(by.Parts)
	var next atomic.Int64
	by.Run(by.Parts, func(part int) {
		p := readers[part]
		p.build.Limit, p.build.Keep = from.limit, from.keep
		for i := next.Add(1) - 1; i < int64(len(out)); i = next.Add(1) - 1 {
			out[i].err = t.protected(func() error { return p.pack(&out[i], r, bin+uint64(i), from) })
		}
	})
	for i := range out {
		if out[i].err != nil {
			return out[i].err
		}
	}
	return nil
}

func (r *reader) pack(out *packed, to *run, bin uint64, from *space) error {
	s, err := r.reading()
	if err != nil {
		return err
	}
	r.build.In.Reset()
	if err := from.collect(s, &r.build.In, to.Lowest(bin), to.Highest(bin)); err != nil {
		return err
	}
	out.value, out.n = r.build.Build(out.value[:0], to.Run, bin)
	return nil
}

// besides calls f on the calling goroutine and on n-1 others.
func besides(n int, f func(part int)) {
	var others sync.WaitGroup
	for part := 1; part < n; part++ {
		others.Go(func() { f(part) })
	}
	f(0)
	others.Wait()
}

// binBytes returns the approximate length of a bin of r when n bins hold entries.
func (r *run) binBytes(entries, n uint64) uint64 {
	return entries*r.EntryBits()/8/n + uint64(r.Size(0))
}
