package bulk

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/durable"
)

const (
	shardMagic = "firstseen.shard1"
	frameHead  = 16      // of a frame, and of the end
	frameBytes = 1 << 20 // of records, before they are compressed
	endBytes   = 8 + 8 + 16 + 8
	maxFrame   = 1 << 30
)

func (m *Manifest) header() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(shardMagic), uint32(m.Shard))
	b = le.AppendUint32(b, uint32(m.Of))
	b = le.AppendUint32(b, uint32(len(m.Scheme)))
	b = append(b, m.Scheme...)
	return le.AppendUint64(b, xxh3.Hash(b))
}

// Frame is a part of a shard: records that were appended, and their counts. Each worker has one.
type Frame struct {
	records   []byte
	documents uint64
	rows      uint64
	one       []byte
}

// Reset empties the frame.
func (f *Frame) Reset() { f.records, f.documents, f.rows = f.records[:0], 0, 0 }

// Add appends a document. keyed says that the scheme has a secret.
func (f *Frame) Add(d *Doc, keyed bool) {
	f.one = appendRecord(f.one[:0], d, keyed)
	f.records = appendBytes(f.records, f.one)
	f.documents++
	f.rows += uint64(len(d.Sketch.Features)) + 1
}

// Write makes a shard and its manifest, of which Shard, Of, Scheme, Format and Inputs are given; the
// rest is counted. frames calls its argument with one frame after the other. The shard has its name
// once it is whole and on the disk.
func Write(dir string, m *Manifest, frames func(add func(*Frame) error) error) error {
	m.dir, m.Version = dir, manifestVersion
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := durable.Replace(m.path(shardEnding), func(f *os.File) error { return m.writeShard(f, frames) })
	if err != nil {
		return err
	}
	return m.write()
}

func (m *Manifest) writeShard(f *os.File, frames func(add func(*Frame) error) error) error {
	out := bufio.NewWriterSize(f, 1<<20)
	head := m.header()
	seed := binary.LittleEndian.Uint64(head[len(head)-8:])
	if _, err := out.Write(head); err != nil {
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
		_, err := out.Write(append(frameHeadOf(packed, pending.documents, seed), packed...))
		pending.Reset()
		return err
	}
	err = frames(func(frame *Frame) error {
		m.Documents, m.Rows = m.Documents+frame.documents, m.Rows+frame.rows
		if m.Documents > MaxDocuments {
			return errors.New("the shard has more documents than fit: make more shards")
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
	m.Digest = m.digest(digest)
	if _, err := out.Write(m.end(seed)); err != nil {
		return err
	}
	return out.Flush()
}

func frameHeadOf(packed []byte, documents, seed uint64) []byte {
	le := binary.LittleEndian
	head := le.AppendUint32(nil, uint32(len(packed)))
	head = le.AppendUint32(head, uint32(documents))
	return le.AppendUint64(head, xxh3.HashSeed(packed, seed^documents))
}

// digest adds the names of the inputs to the hash of all records: two shards with equal ones were made
// of the same inputs.
func (m *Manifest) digest(records *xxh3.Hasher) string {
	for _, in := range m.Inputs {
		records.Write(appendBytes(nil, []byte(in.Name)))
	}
	sum := records.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// end is what follows the last frame: a head without a frame, counts, digest and checksum.
func (m *Manifest) end(seed uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, frameHead, frameHead+endBytes)
	b = le.AppendUint64(b, m.Documents)
	b = le.AppendUint64(b, m.Rows)
	b, err := hex.AppendDecode(b, []byte(m.Digest))
	if err != nil || len(b) != frameHead+endBytes-8 {
		return nil // of a manifest that is not ours: no file has this end
	}
	return le.AppendUint64(b, xxh3.HashSeed(b, seed))
}

// A Reader reads the records of a shard, and checks each byte before it is believed.
type Reader struct {
	manifest *Manifest
	file     *os.File
	in       *bufio.Reader
	decoder  *zstd.Decoder
	seed     uint64
	packed   []byte
	records  []byte // of the frame, those not read yet
	frame    []byte
	left     uint64 // of the frame
	read     uint64 // documents
}

// ErrDamaged is returned for a shard that is not as it was written.
var ErrDamaged = errors.New("the shard is damaged or cut off: make it again with firstseen features")

// Open opens the shard of a manifest.
func (m *Manifest) Open() (*Reader, error) {
	f, err := os.Open(m.path(shardEnding))
	if err != nil {
		return nil, err
	}
	r := &Reader{manifest: m, file: f, in: bufio.NewReaderSize(f, 1<<20)}
	want := m.header()
	got := make([]byte, len(want))
	if _, err = io.ReadFull(r.in, got); err != nil || string(got) != string(want) {
		f.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), ErrDamaged)
	}
	r.seed = binary.LittleEndian.Uint64(want[len(want)-8:])
	r.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame))
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	r.decoder.Close()
	return r.file.Close()
}

// Next returns the next record, valid until the next call. After the last one the error is io.EOF,
// if counts agree with the manifest.
func (r *Reader) Next() (record []byte, err error) {
	for len(r.records) == 0 {
		if err := r.nextFrame(); err != nil {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("%s: %w", r.file.Name(), err)
			}
			return nil, err
		}
	}
	n, size := binary.Uvarint(r.records)
	if size <= 0 || n > uint64(len(r.records)-size) || r.left == 0 {
		return nil, fmt.Errorf("%s: %w", r.file.Name(), ErrDamaged)
	}
	record = r.records[size:][:n:n]
	r.records = r.records[size+int(n):]
	r.left--
	r.read++
	return record, nil
}

func (r *Reader) nextFrame() error {
	var head [frameHead]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil || r.left > 0 {
		return ErrDamaged
	}
	le := binary.LittleEndian
	size, documents := le.Uint32(head[:]), uint64(le.Uint32(head[4:]))
	switch {
	case head == [frameHead]byte{}:
		return r.end()
	case size == 0 || size > maxFrame || documents == 0:
		return ErrDamaged
	}
	if cap(r.packed) < int(size) {
		r.packed = make([]byte, size)
	}
	r.packed = r.packed[:size]
	if _, err := io.ReadFull(r.in, r.packed); err != nil || xxh3.HashSeed(r.packed, r.seed^documents) != le.Uint64(head[8:]) {
		return ErrDamaged
	}
	var err error
	if r.frame, err = r.decoder.DecodeAll(r.packed, r.frame[:0]); err != nil || len(r.frame) == 0 {
		return ErrDamaged
	}
	r.records, r.left = r.frame, documents
	return nil
}

// end compares what follows the last frame with the manifest.
func (r *Reader) end() error {
	want := r.manifest.end(r.seed)
	if want == nil {
		return ErrDamaged
	}
	got := make([]byte, endBytes+1)
	n, _ := io.ReadFull(r.in, got)
	if n != endBytes || string(got[:n]) != string(want[frameHead:]) || r.read != r.manifest.Documents {
		return fmt.Errorf("%w; its counts or its digest are not those of its manifest", ErrDamaged)
	}
	return io.EOF
}
