package bulk

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/engine/report"
)

const (
	shardMagic = "firstseen.shard1"
	frameHead  = 16 // bytes at the beginning of a frame, and of the end
	endBytes   = 8 + 8 + 16 + 8
	maxFrame   = 1 << 30
)

// frameBytes is the size of a frame's records before compression. It is smaller in tests.
var frameBytes = 1 << 20

func (m *Manifest) header() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(shardMagic), uint32(m.Shard))
	b = le.AppendUint32(b, uint32(m.Of))
	b = le.AppendUint32(b, uint32(len(m.Scheme)))
	b = append(b, m.Scheme...)
	return le.AppendUint64(b, xxh3.Hash(b))
}

// Frame is a group of records, with their counts. Each worker has one.
type Frame struct {
	records   []byte
	documents uint64
	rows      uint64
	texts     uint64
	one       []byte
	piece     piece // of Export
}

// Reset empties the frame.
func (f *Frame) Reset() { f.records, f.documents, f.rows, f.texts = f.records[:0], 0, 0, 0 }

// Add appends a document with its text. keyed reports whether the scheme has a secret.
func (f *Frame) Add(d *Doc, text []byte, keyed bool) {
	f.texts += report.SumText(d.At, d.ID, text)
	f.one = appendRecord(f.one[:0], d, keyed)
	f.records = appendBytes(f.records, f.one)
	f.documents++
	f.rows += uint64(len(d.Sketch.Features)) + 1
}

// Write writes a shard and its manifest. The caller sets Shard, Of, Scheme, Format and Inputs;
// Write sets the rest. frames calls its argument with one frame after the other. The shard gets its
// name once it is complete and on disk.
func Write(dir string, m *Manifest, frames func(add func(*Frame) error) error) error {
	m.dir, m.Version = dir, manifestVersion
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := durable.Replace(m.path(shardEnding), func(f *os.File) error { return m.writeShard(f, frames) })
	if err != nil {
		return err
	}
	return durable.Replace(m.path(manifestEnding), func(f *os.File) error {
		out := json.NewEncoder(f)
		out.SetIndent("", " ")
		return out.Encode(m)
	})
}

func (m *Manifest) writeShard(f *os.File, frames func(add func(*Frame) error) error) error {
	head := m.header()
	le := binary.LittleEndian
	seed := le.Uint64(head[len(head)-8:])
	if _, err := f.Write(head); err != nil {
		return err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	digest := xxh3.New()
	var packed []byte
	var pending Frame
	put := func() error {
		if pending.documents == 0 {
			return nil
		}
		packed = encoder.EncodeAll(pending.records, packed[:0])
		head := le.AppendUint32(nil, uint32(len(packed)))
		head = le.AppendUint32(head, uint32(pending.documents))
		head = le.AppendUint64(head, xxh3.HashSeed(packed, seed^pending.documents))
		_, err := f.Write(append(head, packed...))
		pending.Reset()
		return err
	}
	err = frames(func(frame *Frame) error {
		m.Documents, m.Rows, m.Texts = m.Documents+frame.documents, m.Rows+frame.rows, m.Texts+frame.texts
		if m.Documents > MaxDocuments {
			return errors.New("the shard has too many documents: make more shards")
		}
		digest.Write(frame.records)
		pending.records = append(pending.records, frame.records...)
		pending.documents += frame.documents
		if len(pending.records) < frameBytes {
			return nil
		}
		return put()
	})
	if err == nil {
		err = put()
	}
	if err != nil {
		return err
	}
	m.Digest = m.digestOf(digest)
	_, err = f.Write(m.end(seed))
	return err
}

// digestOf returns the digest of records and the names of their inputs. Shards of equal digests
// were made of the same inputs.
func (m *Manifest) digestOf(records *xxh3.Hasher) string {
	for _, in := range m.Inputs {
		records.Write(appendBytes(nil, []byte(in.Name)))
	}
	return fmt.Sprintf("%x", records.Sum128().Bytes())
}

// end returns the bytes after the last frame: a head without a frame, counts, digest and checksum.
func (m *Manifest) end(seed uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, frameHead, frameHead+endBytes)
	b = le.AppendUint64(b, m.Documents)
	b = le.AppendUint64(b, m.Rows)
	b, err := hex.AppendDecode(b, []byte(m.Digest))
	if err != nil || len(b) != frameHead+endBytes-8 {
		return nil // not a manifest of ours: no file has this end
	}
	return le.AppendUint64(b, xxh3.HashSeed(b, seed))
}

// ErrDamaged is returned for a shard that is damaged or cut off.
var ErrDamaged = errors.New("the shard is damaged or cut off: remove it and its manifest, and make it again with firstseen bulk features")

// eachRecord calls f for every record of the shard, with the place of its first key. A record is
// valid until f returns.
func (m *Manifest) eachRecord(ctx context.Context, f func(m *Manifest, owner Place, record []byte) error) error {
	return m.eachPiece(ctx, make([]piece, 1), nothing, nothing, func(p *piece) error {
		return p.each(func(owner Place, record []byte) error { return f(m, owner, record) })
	})
}

func nothing(*piece) error { return nil }

// A piece is a frame that is read. Its buffers are used again.
type piece struct {
	packed, records []byte
	owner           Place // of the first record
	documents       uint64
	err             error
	working         sync.WaitGroup

	doc   Doc    // a buffer
	out   []byte // the records in a form
	ends  []int  // of each record in out
	batch batch  // of a decision
}

// each calls f for every record of the piece, with the place of its first key.
func (p *piece) each(f func(owner Place, record []byte) error) error {
	records := fields.Reader{Rest: p.records}
	for i := range p.documents {
		record := records.Bytes()
		if records.Short {
			return ErrDamaged
		}
		if err := f(p.owner+Place(i<<slotBits), record); err != nil {
			return err
		}
	}
	if len(records.Rest) > 0 {
		return ErrDamaged
	}
	return nil
}

// eachPiece reads the shard. It calls work for its frames in a goroutine for each piece of the ring,
// which it may use for the next shard. It calls begin before that, when owner and documents are known,
// and emit after it, both for one after the other, in order. No byte is trusted before it is checked.
// It ends with ctx, between frames.
func (m *Manifest) eachPiece(ctx context.Context, ring []piece, begin, work, emit func(*piece) error) (err error) {
	file, err := os.Open(m.path(shardEnding))
	if err != nil {
		return fmt.Errorf("%w: make the shard again with firstseen bulk features", err)
	}
	defer func() {
		if errors.Is(err, ErrDamaged) || errors.Is(err, errRecord) {
			err = fmt.Errorf("%s: %w", file.Name(), err)
		}
		err = errors.Join(err, file.Close())
	}()
	jobs := len(ring)
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(jobs), zstd.WithDecoderMaxMemory(maxFrame))
	if err != nil {
		return err
	}
	defer decoder.Close()
	r := &reader{in: bufio.NewReaderSize(file, 1<<20), digest: xxh3.New()}
	if err := r.begin(m); err != nil {
		return err
	}
	defer func() {
		for i := range ring { // the decoder must not close before
			ring[i].working.Wait()
		}
	}()
	read, begun, ended := uint64(0), 0, false
	for n := 0; ; n++ {
		for ; !ended && begun < n+jobs; begun++ {
			p := &ring[begun%jobs]
			p.owner, p.err = placeOf(m.Shard-1, read, 0), r.frame(p)
			if p.err == nil {
				p.err = begin(p)
			}
			if ended = p.err != nil || p.documents == 0; !ended {
				read += p.documents
				p.working.Go(func() { p.err = p.fill(decoder, work) })
			}
		}
		p := &ring[n%jobs]
		p.working.Wait()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case p.err != nil:
			return p.err
		case p.documents == 0:
			return r.end(m, read)
		}
		r.digest.Write(p.records)
		if err := emit(p); err != nil {
			return err
		}
	}
}

func (p *piece) fill(decoder *zstd.Decoder, work func(*piece) error) (err error) {
	if p.records, err = decoder.DecodeAll(p.packed, p.records[:0]); err != nil {
		return ErrDamaged
	}
	return work(p)
}

type reader struct {
	in     *bufio.Reader
	digest *xxh3.Hasher // of all records
	seed   uint64
}

func (r *reader) begin(m *Manifest) error {
	want := m.header()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r.in, got); err != nil || string(got) != string(want) {
		return ErrDamaged
	}
	r.seed = binary.LittleEndian.Uint64(want[len(want)-8:])
	return nil
}

// frame reads the next frame. After the last one, p has no documents.
func (r *reader) frame(p *piece) error {
	var head [frameHead]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return ErrDamaged
	}
	le := binary.LittleEndian
	size := le.Uint32(head[:])
	p.documents = uint64(le.Uint32(head[4:]))
	switch {
	case head == [frameHead]byte{}:
		return nil
	case size == 0 || size > maxFrame || p.documents == 0:
		return ErrDamaged
	}
	if cap(p.packed) < int(size) {
		p.packed = make([]byte, size)
	}
	p.packed = p.packed[:size]
	if _, err := io.ReadFull(r.in, p.packed); err != nil || xxh3.HashSeed(p.packed, r.seed^p.documents) != le.Uint64(head[8:]) {
		return ErrDamaged
	}
	return nil
}

// end compares the bytes after the last frame with the manifest.
func (r *reader) end(m *Manifest, read uint64) error {
	want := m.end(r.seed)
	if want == nil {
		return ErrDamaged
	}
	got := make([]byte, endBytes+1)
	n, _ := io.ReadFull(r.in, got)
	if n != endBytes || string(got[:n]) != string(want[frameHead:]) || read != m.Documents || m.digestOf(r.digest) != m.Digest {
		return fmt.Errorf("%w; its counts, its inputs or its digest differ from its manifest", ErrDamaged)
	}
	return nil
}

// Reader returns a maker of readers that extract the features of a block's documents.
func Reader(scheme feature.Scheme) func() (corpus.Reader[Frame], error) {
	return func() (corpus.Reader[Frame], error) {
		extractor, err := feature.NewExtractor(scheme)
		var d Doc
		return func(b *corpus.Block, docs iter.Seq[*corpus.Document], frame *Frame) error {
			frame.Reset()
			for doc := range docs {
				extractor.ExtractFor(&d.Sketch, doc.Text, doc.Exact)
				d.Input, d.At, d.ID, d.Time = b.Input, doc.At, doc.ID, doc.Time
				frame.Add(&d, doc.Text, scheme.Key != nil)
			}
			return nil
		}, err
	}
}
