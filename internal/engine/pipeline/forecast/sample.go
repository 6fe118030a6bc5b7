package forecast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/temporary"
)

// Sizes of the sample, and of the largest filter it runs with.
const (
	sampleBytes  = 64 << 20
	sampleFilter = 256 << 20
)

// Sample holds the measurements of the beginning of the inputs.
type Sample struct {
	Documents  int64   `json:"documents"`
	Bad        int64   `json:"bad_records"`
	Removed    int64   `json:"removed"`
	Bytes      int64   `json:"bytes"`        // of lines
	Stored     int64   `json:"stored_bytes"` // of the inputs, as read for the sample
	OfStored   int64   `json:"of_bytes"`     // of all inputs, as stored; -1 if unknown
	KeysPerDoc float64 `json:"keys_per_document"`
	// AllKeysPerDoc includes keys that 8 documents already hold. These are on disk for a while.
	AllKeysPerDoc float64 `json:"all_keys_per_document"`
	IDBytes       float64 `json:"id_bytes"` // of an id, on average
	Seconds       float64 `json:"seconds"`
	DocsASecond   float64 `json:"documents_per_second"`
}

// Measure reads a sample of inputs, which open opens with blocks of BlockSize, and runs the pipeline
// over it.
func Measure(ctx context.Context, inputs []input.Input, open func([]input.Input) *corpus.Source, scheme feature.Scheme, jobs int) (*Sample, error) {
	m := &Sample{OfStored: -1}
	if total, known := input.TotalSize(inputs); known {
		m.OfStored = total
	}
	blocks, err := m.read(ctx, inputs, open)
	if err != nil {
		return nil, err
	}
	return m, m.run(ctx, scheme, jobs, blocks)
}

// BlockSize is the size of blocks that give each input a fair part of the sample.
const BlockSize = 256 << 10

// read takes the beginning of every input, an equal amount of each.
func (m *Sample) read(ctx context.Context, inputs []input.Input, open func([]input.Input) *corpus.Source) (blocks []corpus.Block, err error) {
	for i := range inputs {
		limit := int64(sampleBytes / len(inputs) * (i + 1))
		source := open(inputs[i : i+1])
		var block corpus.Block
		err = nil
		for err == nil && m.Bytes < limit {
			if err = source.Next(ctx, &block); err == nil {
				blocks = append(blocks, block.Copy())
				m.Bytes += int64(len(block.Data))
			}
		}
		m.Stored += block.Read
		block.Release()
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err := source.Close(); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// replay is a source of blocks that were read before.
type replay struct{ blocks []corpus.Block }

func (r *replay) Next(_ context.Context, b *corpus.Block) error {
	b.Release()
	if len(r.blocks) == 0 {
		return io.EOF
	}
	b.Refill(&r.blocks[0])
	r.blocks = r.blocks[1:]
	return nil
}

func (r *replay) Bound(int, func(context.Context, int) error) {}
func (r *replay) Close() error                                { return nil }

// run sends the sample through the pipeline and records the results.
func (m *Sample) run(ctx context.Context, scheme feature.Scheme, jobs int, blocks []corpus.Block) (err error) {
	dir, remove, err := temporary.New("index")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	scheme.Key = index.DrawKey() // as a new index has one
	x, err := index.Open(ctx, dir, index.Options{Scheme: scheme, Key: index.KeyAsIs, Shape: bloomstore.ForMemory(sampleFilter)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	start := time.Now()
	keys, ids := 0, 0
	summary, err := pipeline.Run(ctx, x, pipeline.Job{
		Source: &replay{blocks},
		Scheme: scheme, Workers: jobs, MaxBad: -1,
		Each: func(id string, r *dedup.Result, _ dedup.Counts) error {
			ids += len(id)
			if r.Kept {
				keys += r.Segments + 1 // and the whole text
				if !scheme.BySegments() {
					keys += scheme.Features()
				}
			}
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("running the sample: %w", err)
	}
	m.Seconds = max(time.Since(start).Seconds(), 1e-6)
	m.Documents, m.Bad, m.Removed = summary.Documents, summary.Bad, summary.Removed
	if m.Documents == 0 {
		return ErrNone
	}
	m.IDBytes = float64(ids) / float64(m.Documents)
	m.DocsASecond = float64(m.Documents) / m.Seconds
	m.KeysPerDoc = float64(summary.Table.Entries) / float64(summary.Kept)
	m.AllKeysPerDoc = float64(keys) / float64(summary.Kept)
	if scheme.Passages > 0 {
		m.AllKeysPerDoc += m.KeysPerDoc // picks are not among the keys counted
	}
	return nil
}

// ErrNone is returned for a sample without documents.
var ErrNone = errors.New("the sample holds no documents")

// ErrUnknown is returned for inputs of unknown size.
var ErrUnknown = errors.New("the size of a pipe is unknown")

// Total estimates the number of documents in all inputs.
func (m *Sample) Total() (uint64, error) {
	if m.OfStored < 0 || m.Stored == 0 {
		return 0, ErrUnknown
	}
	return uint64(math.Round(float64(m.Documents) * max(1, float64(m.OfStored)/float64(m.Stored)))), nil
}
