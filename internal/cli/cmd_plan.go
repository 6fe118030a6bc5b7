package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/amount"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/server"
)

// Sizes of the sample, and of the largest filter it runs with.
const (
	sampleBytes  = 64 << 20
	sampleFilter = 256 << 20
)

// forecast is the output of firstseen plan. The JSON form is a contract.
type forecast struct {
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
	TableBytes      uint64  `json:"table_bytes"`              // at most, see index.TableDisk
	DiskBytes       uint64  `json:"disk_bytes"`               // of table and filter
	// With --filter-only, a pipe and --index: the filter, its replacement and its journals.
	FilterOnlyDisk uint64  `json:"disk_bytes_filter_only"`
	Sample         *sample `json:"sample"`  // null without inputs
	Seconds        float64 `json:"seconds"` // 0 without a sample
	Window         float64 `json:"window_seconds,omitempty"`
}

// sample holds the measurements of the beginning of the inputs.
type sample struct {
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

func newPlanCommand() *cobra.Command {
	var f planning
	cmd := command("plan", nil, func(cmd *cobra.Command, args []string) error {
		if err := f.foresee(args); err != nil {
			return usageError{err}
		}
		c, err := f.forecast(cmd)
		if err != nil {
			return err
		}
		return f.print(cmd, c, "plan", struct {
			*forecast
			Jobs int
		}{c, f.jobs})
	})
	fs := cmd.Flags()
	fs.StringVar(&f.docs, "docs", "", "number of documents, such as 10M")
	fs.StringVar(&f.memory, "memory", "", "size of the filter, such as 1GiB (default: as large as the documents need)")
	inSeconds(fs, &f.window, "window", "plan for documents that count for this long, such as 48h or 2d")
	fs.Float64Var(&f.rate, "rate", 0, "with --window: documents kept per second")
	f.registerMethod(fs)
	f.registerPassages(fs)
	registerJobs(fs, &f.jobs, "processors to use for the sample")
	f.inputFlags.register(fs)
	f.printed.register(fs)
	return cmd
}

// planning is a run to forecast. Its shape is zero if the documents decide it. Its format is that
// of the inputs or, without any, of --format.
type planning struct {
	inputFlags
	methodFlags
	printed
	docs, memory string
	window       uint32  // seconds
	rate         float64 // documents a second
	jobs         int
	shape        bloomstore.Shape
	documents    uint64 // 0 if the inputs decide it
}

func (p *planning) foresee(args []string) (err error) {
	p.args = args
	if p.documents, err = p.planned(); err != nil {
		return err
	}
	if p.documents == 0 && p.docs == "" && len(args) == 0 {
		return errors.New("plan: give the number of documents with --docs, or the inputs of the run")
	}
	if err := p.formats.complete(p.source); err != nil {
		return err
	}
	p.found, _ = p.formats.of()
	if p.docs != "" {
		if p.documents, err = amount.ParseCount(p.docs); err != nil {
			return fmt.Errorf("--docs: %w", err)
		}
	}
	if p.memory != "" {
		if p.shape, err = filterOf(p.memory, index.KeysPerDoc(p.scheme, false)); err != nil {
			return err
		}
	}
	return p.checkMethod("", false)
}

func (p *planning) forecast(cmd *cobra.Command) (_ *forecast, err error) {
	var measured *sample
	if len(p.args) > 0 {
		if measured, err = p.measure(cmd); err != nil {
			return nil, err
		}
		if p.documents == 0 {
			if p.documents, err = measured.total(); err != nil {
				return nil, err
			}
		}
	}
	known := p.documents
	if p.window > 0 {
		known *= 2 // the filter and the method's memory hold as many expired documents again
	}
	if p.shape == (bloomstore.Shape{}) {
		p.shape = index.ShapeFor(known, p.scheme, false)
	}
	c := predict(p.documents, p.shape, p.scheme, measured)
	if p.window > 0 { // add the times of documents, slices about to be dropped and one being merged
		c.Window = float64(p.window)
		c.MemoryBytes = index.WindowMemory(c.Documents)
		c.DiskBytes += c.TableBytes / 2
		c.TableBytes += c.TableBytes / 2
	}
	beside := memoryOfParquet(p.found)
	c.MemoryBytes += c.FilterBytes + memoryOf(p.source, false) + p.scheme.MemoryFor(known) + known/8 + beside // a bit for each document marks those that only count
	if p.scheme.Passages > 0 {
		return c, nil // found neither by serve nor with --filter-only
	}
	c.ServeBytes = c.MemoryBytes + uint64(new(server.Config).Memory())
	if p.scheme.Info().FilterOnly && p.window == 0 {
		c.FilterOnlyBytes = c.FilterBytes + memoryOf(p.source, true) + beside
		c.FilterOnlyDisk = index.StreamDisk(p.shape)
	}
	return c, nil
}

// predict derives the forecast from the number of documents, the filter and the sample, if any.
func predict(docs uint64, shape bloomstore.Shape, scheme feature.Scheme, m *sample) *forecast {
	c := &forecast{
		Documents: docs, KeysPerDoc: float64(index.KeysPerDoc(scheme, false)), Sample: m,
		FilterBytes: shape.Bytes(), Capacity: shape.Capacity(),
	}
	idBytes := 32.0
	if m != nil {
		c.KeysPerDoc, idBytes = m.KeysPerDoc, m.IDBytes
		c.Seconds = float64(docs) / m.DocsASecond
	}
	if scheme.Passages > 0 { // each pick takes four bytes, and the document's place is stored
		idBytes += passages.EntryBytes*max(c.KeysPerDoc-float64(scheme.Features()/2), 0) + placeBytes
	}
	keys := float64(docs) * c.KeysPerDoc
	allKeys := keys
	if m != nil {
		allKeys = float64(docs) * m.AllKeysPerDoc
	}
	c.Load = keys / float64(c.Capacity)
	c.Rate = shape.FalsePositiveRate(uint64(keys))
	c.DocRate = -math.Expm1(c.KeysPerDoc * math.Log1p(-c.Rate))
	c.TableBytes = index.TableDisk(float64(docs), allKeys, keys, idBytes, 0)
	c.DiskBytes = c.TableBytes + c.FilterBytes
	return c
}

// placeBytes is the approximate size of a document's place in its record.
const placeBytes = 60

// measure reads a sample of the inputs and runs the pipeline over it.
func (p *planning) measure(cmd *cobra.Command) (*sample, error) {
	if err := p.findInputs(cmd, p.args); err != nil {
		return nil, err
	}
	p.jobs = checkJobs(p.jobs, cmd.ErrOrStderr())
	if err := p.formats.check(p.found, "", false); err != nil {
		return nil, err
	}
	m := &sample{OfStored: -1}
	if total, known := input.TotalSize(p.inputs); known {
		m.OfStored = total
	}
	blocks, err := m.read(cmd.Context(), p.inputs, &p.formats, p.source)
	if err != nil {
		return nil, err
	}
	return m, p.run(cmd.Context(), m, blocks)
}

// read takes the beginning of every input, an equal amount of each.
func (m *sample) read(ctx context.Context, inputs []input.Input, formats *formats, cfg corpus.SourceConfig) (blocks []corpus.Block, err error) {
	cfg.BlockSize = 256 << 10
	for i := range inputs {
		limit := int64(sampleBytes / len(inputs) * (i + 1))
		source := formats.source(inputs[i:i+1], cfg)
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
func (p *planning) run(ctx context.Context, m *sample, blocks []corpus.Block) (err error) {
	runtime.GOMAXPROCS(p.jobs)
	dir, remove, err := makeTemp("index")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	scheme := p.scheme
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
		Scheme: scheme, Workers: p.jobs, MaxBad: -1,
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
		return errors.New("plan: the sample holds no documents; are --text-field and the inputs right?")
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

// total estimates the number of documents in all inputs.
func (m *sample) total() (uint64, error) {
	if m.OfStored < 0 || m.Stored == 0 {
		return 0, usageError{errors.New("plan: the size of a pipe is unknown; add --docs")}
	}
	return uint64(math.Round(float64(m.Documents) * max(1, float64(m.OfStored)/float64(m.Stored)))), nil
}

// planned returns the number of documents in the window to plan for, or 0 without one.
func (p *planning) planned() (uint64, error) {
	switch {
	case p.window == 0 && p.rate == 0:
		return 0, nil
	case p.window == 0:
		return 0, errors.New("plan --rate: give --window too, the time for which documents count, such as 48h")
	case p.docs != "":
		return 0, errors.New("plan --window: give --rate, the documents per second, instead of --docs: an index with a window holds only the documents of that time")
	case !(p.rate > 0):
		return 0, errors.New("plan --window: give --rate too, the documents kept per second")
	}
	n := math.Ceil(p.rate * float64(p.window))
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("plan: %.0f documents in a window, and at most %d are possible: give a shorter --window", n, uint32(math.MaxUint32))
	}
	return uint64(n), nil
}
