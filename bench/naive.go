package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"

	"github.com/bits-and-blooms/bloom/v3"
	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/bench/gen"
	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/pipeline"
)

// naive runs the same documents through firstseen and through the plain design,
// the library's filter and one bbolt key a segment, and compares the two.
func naive(ctx context.Context, args []string, out io.Writer) error {
	var cfg gen.Config
	fs := flag.NewFlagSet("naive", flag.ContinueOnError)
	genFlags(fs, &cfg, 300_000)
	batch := fs.Int("batch", 1000, "documents in a transaction of the plain design")
	if err := fs.Parse(args); err != nil {
		return err
	}
	g, err := gen.New(cfg)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "firstseen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	shape := bloomstore.ForItems(cfg.Docs * index.KeysPerDoc(feature.Scheme{}, false))
	start := now()
	ours, err := runFirstseen(ctx, g, shape, filepath.Join(dir, "index"))
	if err != nil {
		return err
	}
	first := now().minus(start)
	start = now()
	theirs, err := runNaive(ctx, g, shape, filepath.Join(dir, "naive.db"), *batch)
	if err != nil {
		return err
	}
	second := now().minus(start)
	fmt.Fprintf(out, "%d documents, filter %d MiB\n\n| | wall s | CPU s | duplicates | MiB on disk |\n|---|---|---|---|---|\n", cfg.Docs, shape.Bytes()/mib)
	fmt.Fprintf(out, "| firstseen | %.1f | %.1f | %d | %.0f |\n", first.wall, first.cpu, ours.duplicates, ours.mib())
	fmt.Fprintf(out, "| plain | %.1f | %.1f | %d | %.0f |\n", second.wall, second.cpu, theirs.duplicates, theirs.mib())
	if first.cpu > 0 {
		fmt.Fprintf(out, "| ratio | %.1f | %.1f | | %.1f |\n", second.wall/first.wall, second.cpu/first.cpu, theirs.mib()/ours.mib())
	}
	return nil
}

// result is what a design made of the documents.
type result struct {
	duplicates int64
	bytes      int64 // of the file of keys
}

func (o result) mib() float64 { return float64(o.bytes) / mib }

func generated(g *gen.Generator) *corpus.Source {
	return corpus.NewSource([]corpus.Input{{Path: corpus.Stdin, Name: "generated", Size: -1}}, jsonl.Format{},
		corpus.SourceConfig{Stdin: g.NewReader()})
}

func runFirstseen(ctx context.Context, g *gen.Generator, shape bloomstore.Shape, dir string) (result, error) {
	x, err := index.Open(dir, index.Options{Key: index.KeyAsIs, Shape: shape})
	if err != nil {
		return result{}, err
	}
	summary, err := pipeline.Run(ctx, x, pipeline.Job{Source: generated(g), Workers: runtime.NumCPU(), OnFull: index.OnFullWarn})
	if err == nil {
		err = x.Save()
	}
	if err := errors.Join(err, x.Close()); err != nil {
		return result{}, err
	}
	size, err := fileSize(filepath.Join(dir, index.TableFile))
	return result{summary.Duplicates, size}, err
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// plain is the design one writes first: every segment asked of the filter, those
// seen asked of bbolt, and those of kept documents put into both.
type plain struct {
	filter *bloom.BloomFilter
	bucket *bbolt.Bucket
	votes  map[uint32]int
	doc    uint32
	found  int64
}

// bySegments has no keys but those of segments, which are its votes.
var bySegments = feature.Scheme{Method: feature.Former}

var naiveBucket = []byte("segments")

func runNaive(ctx context.Context, g *gen.Generator, shape bloomstore.Shape, path string, batch int) (_ result, err error) {
	db, err := bbolt.Open(path, 0o666, nil)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p := &plain{filter: bloom.New(uint(shape.Bits), uint(shape.Hashes)), votes: map[uint32]int{}}
	next, stop := iter.Pull2(documents(ctx, g))
	defer stop()
	for more := true; more && err == nil; {
		err = db.Update(func(tx *bbolt.Tx) (err error) {
			more, err = p.transaction(tx, next, batch)
			return err
		})
	}
	if err != nil {
		return result{}, err
	}
	size, err := fileSize(path)
	return result{p.found, size}, err
}

// documents gives the features of one document after the other, each valid until
// the next, and an error at most once, at the end.
func documents(ctx context.Context, g *gen.Generator) iter.Seq2[*feature.Set, error] {
	return func(yield func(*feature.Set, error) bool) {
		parser, err := jsonl.Format{}.NewParser("")
		if err != nil {
			yield(nil, err)
			return
		}
		extractor, err := feature.NewExtractor(bySegments)
		if err != nil {
			yield(nil, err)
			return
		}
		source := generated(g)
		var block corpus.Block
		var set feature.Set
		for {
			if err := source.Next(ctx, &block); err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			for rec := range parser.Parse(&block) {
				if rec.Bad != nil {
					yield(nil, rec.Bad)
					return
				}
				extractor.Extract(&set, rec.Text)
				if !yield(&set, nil) {
					return
				}
			}
		}
	}
}

// transaction judges up to batch documents and reports whether there are more.
func (p *plain) transaction(tx *bbolt.Tx, next func() (*feature.Set, error, bool), batch int) (more bool, err error) {
	if p.bucket, err = tx.CreateBucketIfNotExists(naiveBucket); err != nil {
		return false, err
	}
	for range batch {
		set, err, ok := next()
		if err != nil || !ok {
			return false, err
		}
		if err := p.see(set); err != nil {
			return false, err
		}
	}
	return true, nil
}

// see judges a document by its number of segments in one earlier document, and
// keeps those that are none's copy.
func (p *plain) see(set *feature.Set) error {
	p.doc++
	clear(p.votes)
	best := 0
	for i := range set.Features {
		key := binary.LittleEndian.AppendUint64(nil, set.Features[i].Key)
		if !p.filter.Test(key) {
			continue
		}
		if v := p.bucket.Get(key); v != nil {
			of := binary.LittleEndian.Uint32(v)
			p.votes[of]++
			best = max(best, p.votes[of])
		}
	}
	if best > 0 && 2*best >= len(set.Features) {
		p.found++
		return nil
	}
	for i := range set.Features {
		key := binary.LittleEndian.AppendUint64(nil, set.Features[i].Key)
		if p.filter.TestAndAdd(key) && p.bucket.Get(key) != nil {
			continue
		}
		if err := p.bucket.Put(key, binary.LittleEndian.AppendUint32(nil, p.doc)); err != nil {
			return err
		}
	}
	return nil
}
