// Package forecast predicts the memory, disk and time of a run, by a sample of its inputs.
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
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/temporary"
)

// Forecast is the output of firstseen plan. The JSON form is a contract.
type Forecast struct {
	Documents       uint64  `json:"documents"`
	KeysPerDoc      float64 `json:"keys_per_document"`
	FilterBytes     uint64  `json:"filter_bytes"`
	Capacity        uint64  `json:"filter_capacity"` // keys at design load
	Load            float64 `json:"filter_load"`     // share of the capacity used; above 1 the filter grows
	Rate            float64 `json:"false_positive_rate"`
	DocRate         float64 `json:"false_positive_rate_document"` // at least one key of a document wrongly seen
	MemoryBytes     uint64  `json:"memory_bytes"`
	FilterOnlyBytes uint64  `json:"memory_bytes_filter_only"` // 0 if a table is needed
	ServeBytes      uint64  `json:"memory_bytes_serve"`       // including requests; 0 with passages
	TableBytes      uint64  `json:"table_bytes"`              // at most, see TableDisk
	DiskBytes       uint64  `json:"disk_bytes"`               // of table and filter
	// With --filter-only, a pipe and --index: the filter, its replacement and its journals.
	FilterOnlyDisk uint64  `json:"disk_bytes_filter_only"`
	Sample         *Sample `json:"sample"`  // null without inputs
	Seconds        float64 `json:"seconds"` // 0 without a sample
	Window         float64 `json:"window_seconds,omitempty"`
}

// Plan is a run to forecast.
type Plan struct {
	Documents uint64           // those of the window, if there is one
	Window    uint32           // seconds; 0 for none
	Shape     bloomstore.Shape // zero if the documents decide it
	Scheme    feature.Scheme
	Limits    corpus.SourceConfig
	Format    corpus.Format // nil if it is unknown
}

// Forecast predicts the run, by a sample unless nil.
func (p Plan) Forecast(measured *Sample) *Forecast {
	known := p.Documents
	if p.Window > 0 {
		known *= 2 // the filter and the method's memory hold as many expired documents again
	}
	if p.Shape == (bloomstore.Shape{}) {
		p.Shape = index.ShapeFor(known, p.Scheme, false)
	}
	c := predict(p.Documents, p.Shape, p.Scheme, measured)
	if p.Window > 0 { // add slices about to be dropped and one being merged
		c.Window = float64(p.Window)
		c.MemoryBytes = 4*(c.Documents+c.Documents/8) + 16<<20 // times of documents, and those of the slice dropped next
		c.DiskBytes += c.TableBytes / 2
		c.TableBytes += c.TableBytes / 2
	}
	beside := MemoryOfParquet(p.Format)
	c.MemoryBytes += c.FilterBytes + Memory(p.Limits, false) + p.Scheme.MemoryFor(known) + known/8 + beside // a bit for each document marks those that only count
	c.MemoryBytes += uint64(float64(known) * (c.KeysPerDoc + 1) * docmap.EntryMemory)                       // for look-ups in runs, by keys and an id
	if p.Scheme.Passages > 0 {
		return c // found neither by serve nor with --filter-only
	}
	if p.Scheme.Info().FilterOnly && p.Window == 0 {
		c.FilterOnlyBytes = c.FilterBytes + Memory(p.Limits, true) + beside
		c.FilterOnlyDisk = filterlog.Disk(p.Shape, method.WholeKeys+feature.MaxSegments)
	}
	return c
}

// predict derives the forecast from the number of documents, the filter and the sample, if any.
func predict(docs uint64, shape bloomstore.Shape, scheme feature.Scheme, m *Sample) *Forecast {
	c := &Forecast{
		Documents: docs, KeysPerDoc: float64(scheme.KeysPerDoc(false)), Sample: m,
		FilterBytes: shape.Bytes(), Capacity: shape.Capacity(),
	}
	allPerDoc, idBytes := c.KeysPerDoc, 32.0
	if m != nil {
		c.KeysPerDoc, allPerDoc, idBytes = m.KeysPerDoc, m.AllKeysPerDoc, m.IDBytes
		c.Seconds = float64(docs) / m.DocsASecond
	}
	if scheme.Passages > 0 { // each pick takes four bytes, and the document's place is stored
		idBytes += passages.EntryBytes*max(c.KeysPerDoc-float64(scheme.Features()/2), 0) + placeBytes
	}
	keys := float64(docs) * c.KeysPerDoc
	c.Load = keys / float64(c.Capacity)
	c.Rate = shape.FalsePositiveRate(uint64(keys))
	c.DocRate = -math.Expm1(c.KeysPerDoc * math.Log1p(-c.Rate))
	c.TableBytes = TableDisk(float64(docs), float64(docs)*allPerDoc, keys, idBytes, 0)
	c.DiskBytes = c.TableBytes + c.FilterBytes
	return c
}

// placeBytes is the approximate size of a document's place in its record.
const placeBytes = 60

// These constants bound the memory of a run beside its filter, for lines up to 16 MiB and windows
// up to 8 MiB. A longer line is in memory twice, as it came and as its text, which differs if it
// has escapes. Nothing else is then in flight. A large page is in memory a third time, decoded with
// its tags; the rest of the allowance covers that. A larger window adds its excess.
const (
	memoryBeside     = 256 << 20
	memoryFilterOnly = 168 << 20
	OrdinaryRecord   = 16 << 20
	OrdinaryWindow   = 8 << 20
)

// Memory returns the most bytes of a run beside its filter, for any inputs, outputs and jobs.
func Memory(c corpus.SourceConfig, filterOnly bool) uint64 {
	beside := int64(memoryBeside)
	if filterOnly {
		beside = memoryFilterOnly
	}
	return uint64(beside + 2*max(0, int64(c.MaxRecord)-OrdinaryRecord) + WindowBeyond(c.MaxWindow))
}

// parquetWritten is the memory for writing Parquet in addition to that for other formats. It covers
// rows of frames by columns, and their pages, for each compressed output.
const parquetWritten = 130 << 20

// MemoryOfParquet returns the most further bytes of a run that rewrites the rows of Parquet.
func MemoryOfParquet(found corpus.Format) uint64 {
	if _, ok := found.(parquet.Format); !ok {
		return 0
	}
	return parquet.Memory + parquetWritten
}

// WindowBeyond returns the bytes of a window beyond those of ordinary inputs.
func WindowBeyond(window int64) int64 { return max(0, window-OrdinaryWindow) }

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

// The disk space of a side table in bytes. A pending key, repeats included, counts with its share
// of page space left empty. An entry of a run counts with the space of a merge. A document counts
// without its id. The rest is rewritten with each checkpoint.
const (
	diskPerPending = 9.2
	diskPerEntry   = 15
	diskPerDoc     = 110 // with up to 69 of its sketch
	diskFixed      = 512 << 10
)

// TableDisk returns the largest size in bytes of a side table of docs documents. keys counts their
// keys, repeats included. entries counts the stored pairs of key and document, at most 8 per key.
// idBytes is the mean length of an id. memtable keys make a run, 0 for the default.
func TableDisk(docs, keys, entries, idBytes float64, memtable int) uint64 {
	if memtable <= 0 {
		memtable = docmap.DefaultMemtableKeys
	}
	most, total := float64(memtable), diskFixed+docs*(diskPerDoc+1.125*idBytes)
	// Until the first run is written, all keys are pending, and their pages are free later. The
	// numbers may be estimates, so near that point both are counted.
	if entries < most/2 && docs < most/8 {
		total += keys * diskPerPending
	} else {
		flush := min(1, most/max(entries, 1))
		total += keys*flush*diskPerPending + entries*diskPerEntry
	}
	// The file grows by a sixteenth at a time, and at most 32 MiB.
	return uint64(math.Ceil(total + min(total/16, 32<<20)))
}
