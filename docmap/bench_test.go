package docmap

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/internal/testing/effort"
)

const keysPerDoc = 51 // 50 segments and the whole text

// stream generates documents of uniform keys, the same for the same seed.
type stream struct {
	seed uint64
	pcg  rand.PCG
	keys [keysPerDoc]uint64
	data [24]byte
	n    int
}

func (s *stream) fill(n int) []uint64 {
	s.pcg.Seed(s.seed, uint64(n))
	for i := range s.keys {
		s.keys[i] = s.pcg.Uint64()
	}
	return s.keys[:]
}

func (s *stream) next() (Doc, []uint64) {
	s.n++
	s.fill(s.n)
	return Doc{
		ID:   fmt.Sprintf("https://example.org/page/%d", s.n),
		Data: s.data[:],
	}, s.keys[:]
}

func fill(b *testing.B, t *Table, s *stream, docs int) {
	b.Helper()
	for range docs {
		d, keys := s.next()
		if _, err := t.addDoc(d, keys); err != nil {
			b.Fatal(err)
		}
		if t.Full() {
			if err := t.Checkpoint(nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := t.Checkpoint(nil); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAdd adds documents of 51 keys, with checkpoints and merges. A run with
// -benchtime=1000000x adds 51 million keys.
func BenchmarkAdd(b *testing.B) {
	t := mustOpen(b, filepath.Join(b.TempDir(), "table"), Options{Scheme: "bench"})
	s := &stream{seed: 7}
	cpu := effort.CPU()
	b.ResetTimer()
	fill(b, t, s, b.N)
	b.StopTimer()
	cpu = effort.CPU() - cpu
	st := t.Stats()
	keys := float64(b.N * keysPerDoc)
	b.ReportMetric(float64(cpu.Nanoseconds())/keys, "cpu-ns/key")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/keys, "ns/key")
	b.ReportMetric(keys/b.Elapsed().Seconds(), "keys/s")
	b.ReportMetric(float64(st.Bytes)/keys, "bytes/key")
	b.ReportMetric(float64(st.FreeBytes)/keys, "free/key")
	b.ReportMetric(float64(t.head.merged)/keys, "merged/key")
}

// BenchmarkAddBaseline measures the alternative to packed runs: one bbolt key per key, in batches
// of 100,000, sorted or not.
func BenchmarkAddBaseline(b *testing.B) {
	path := filepath.Join(b.TempDir(), "baseline")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := &stream{seed: 7}
	cpu := effort.CPU()
	b.ResetTimer()
	for done := 0; done < b.N; {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("keys"))
			for range min(2000, b.N-done) {
				done++
				_, keys := s.next()
				for _, k := range keys {
					key := binary.BigEndian.AppendUint64(nil, k)
					num := binary.LittleEndian.AppendUint32(nil, uint32(done))
					if err := bucket.Put(key, num); err != nil {
						return err
					}
				}
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	keys := float64(b.N * keysPerDoc)
	b.ReportMetric(float64((effort.CPU()-cpu).Nanoseconds())/keys, "cpu-ns/key")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/keys, "ns/key")
	b.ReportMetric(keys/b.Elapsed().Seconds(), "keys/s")
	err = db.View(func(tx *bbolt.Tx) error {
		b.ReportMetric(float64(tx.Size())/keys, "bytes/key")
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

var benchDocs = flag.Int("docs", 200_000, "documents in the table of the look-up benchmarks")

// BenchmarkLookup looks up documents of 51 keys in a large table, some present and some absent.
func BenchmarkLookup(b *testing.B) {
	t := mustOpen(b, filepath.Join(b.TempDir(), "table"), Options{Scheme: "bench"})
	fill(b, t, &stream{seed: 7}, *benchDocs)
	for _, c := range []struct {
		name string
		seed uint64
		hits int
	}{{"present", 7, keysPerDoc}, {"absent", 8, 0}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			s := &stream{seed: c.seed}
			r := rand.New(rand.NewPCG(1, 1))
			p := postings{make([]uint32, keysPerDoc*MaxHolders), make([]uint8, keysPerDoc)}
			cpu := effort.CPU()
			for b.Loop() {
				if err := t.ask(s.fill(1+r.IntN(*benchDocs)), &p); err != nil {
					b.Fatal(err)
				}
				hits := 0
				for _, n := range p.n {
					hits += int(n)
				}
				if hits != c.hits {
					b.Fatalf("%d hits, want %d", hits, c.hits)
				}
			}
			b.ReportMetric(float64((effort.CPU()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(len(t.spaces[ofKeys].runs)), "runs")
		})
	}
	b.Run("doc", func(b *testing.B) {
		b.ReportAllocs()
		r := rand.New(rand.NewPCG(1, 1))
		var num [1]uint32
		var id, data [1][]byte
		for b.Loop() {
			num[0] = uint32(1 + r.IntN(*benchDocs))
			if err := t.Records(num[:], id[:], data[:]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("keys", func(b *testing.B) {
		cpu := effort.CPU()
		for b.Loop() {
			n := 0
			for batch, err := range t.Keys() {
				if err != nil {
					b.Fatal(err)
				}
				n += len(batch)
			}
			b.ReportMetric(float64((effort.CPU()-cpu).Nanoseconds())/float64(b.N*n), "cpu-ns/key")
		}
	})
}

// BenchmarkAsker looks up documents one by one, on one goroutine and on one per processor.
func BenchmarkAsker(b *testing.B) {
	t := mustOpen(b, filepath.Join(b.TempDir(), "table"), Options{Scheme: "bench"})
	fill(b, t, &stream{seed: 7}, *benchDocs)
	for name, readers := range map[string]int{"alone": 1, "together": runtime.GOMAXPROCS(0)} {
		b.Run(name, func(b *testing.B) {
			if err := t.Share(readers, func(n int, f func(int)) {}); err != nil {
				b.Fatal(err)
			}
			var wg sync.WaitGroup
			for reader := range readers {
				wg.Go(func() {
					s, r := &stream{seed: 7}, rand.New(rand.NewPCG(1, uint64(reader)))
					holders, n := make([]uint32, keysPerDoc*MaxHolders), make([]uint8, keysPerDoc)
					for range b.N / readers {
						if err := t.Asker(reader).Lookup(s.fill(1+r.IntN(*benchDocs)), holders, n); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// BenchmarkLookupSorted looks up the keys of 200 documents, as in a block: per document, all at
// once, and all in the order of bins.
func BenchmarkLookupSorted(b *testing.B) {
	const together = 200
	t := mustOpen(b, filepath.Join(b.TempDir(), "table"), Options{Scheme: "bench"})
	fill(b, t, &stream{seed: 7}, *benchDocs)
	holders, n := make([]uint32, together*keysPerDoc*MaxHolders), make([]uint8, together*keysPerDoc)
	for _, c := range []struct {
		name string
		sort bool
		step int
	}{{"apart", false, keysPerDoc}, {"together", false, together * keysPerDoc}, {"sorted", true, together * keysPerDoc}} {
		b.Run(c.name, func(b *testing.B) {
			s, r := &stream{seed: 7}, rand.New(rand.NewPCG(1, 1))
			keys := make([]uint64, 0, together*keysPerDoc)
			took := time.Duration(0)
			for b.Loop() {
				keys = keys[:0]
				for range together {
					keys = append(keys, s.fill(1+r.IntN(*benchDocs))...)
				}
				begun := effort.CPU()
				if c.sort {
					slices.Sort(keys)
				}
				for at := 0; at < len(keys); at += c.step {
					if err := t.Lookup(keys[at:at+c.step], holders, n); err != nil {
						b.Fatal(err)
					}
				}
				took += effort.CPU() - begun
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*together), "cpu-ns/document")
		})
	}
}
