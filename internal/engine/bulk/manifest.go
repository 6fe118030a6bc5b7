// Package bulk decides more documents than one machine can read in a night. Many processes extract
// features into shards. An engine that can group, such as sort or a database, finds the keys that
// occur in two documents: the marks. One process then decides all documents in order, and looks up
// marked keys only. Its verdicts are those of one run over all inputs.
//
// A Bloom filter answers "no" or "maybe"; marks answer "no" or "yes, somewhere". A key without a
// mark occurs in one document, so it need not be stored or looked up. docs/format.md, "Shards of
// features", describes the files.
package bulk

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// A Manifest describes a finished shard, and is written after it. The JSON form is a contract.
type Manifest struct {
	Version   int    `json:"version"` // 2
	Shard     int    `json:"shard"`   // from 1
	Of        int    `json:"of"`      // number of shards in the set
	Scheme    string `json:"scheme"`
	Format    string `json:"format"` // of the inputs, with settings
	Documents uint64 `json:"documents"`
	Rows      uint64 `json:"rows"` // keys of all documents
	Bad       uint64 `json:"bad_records"`
	Digest    string `json:"digest"` // of the documents and the names of inputs, 32 hexadecimal digits

	Texts  uint64 `json:"texts,string"` // sum of report.SumText over all documents
	Inputs []File `json:"inputs"`

	dir string
}

// A File is an input of a shard.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes, as stored; -1 for a pipe
}

const (
	manifestVersion = 2
	shardEnding     = ".features"
	manifestEnding  = ".json"
)

// Name returns the file name of a shard without its ending.
func Name(shard, of int) string { return fmt.Sprintf("shard-%05d-of-%05d", shard, of) }

func (m *Manifest) path(ending string) string {
	return filepath.Join(m.dir, Name(m.Shard, m.Of)+ending)
}

func (m *Manifest) fileOf(d *Doc) (string, error) {
	if d.Input < 0 || d.Input >= len(m.Inputs) {
		return "", errRecord
	}
	return m.Inputs[d.Input].Name, nil
}

// ReadManifest reads the manifest of a shard. The error matches fs.ErrNotExist if it is unfinished.
func ReadManifest(dir string, shard, of int) (*Manifest, error) {
	m, err := readManifest(filepath.Join(dir, Name(shard, of)+manifestEnding))
	if err == nil {
		_, err = os.Stat(m.path(shardEnding))
	}
	return m, err
}

func readManifest(path string) (*Manifest, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &Manifest{dir: filepath.Dir(path)}
	const again = "remove it and make the shard again with firstseen bulk features"
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s is not a manifest of features: %w; %s", path, err, again)
	}
	switch {
	case m.Version != manifestVersion:
		return nil, fmt.Errorf("%s has version %d, and this firstseen reads version %d; %s", path, m.Version, manifestVersion, again)
	case m.Shard < 1 || m.Of < m.Shard || m.Of > MaxShards:
		return nil, fmt.Errorf("%s is not a manifest of features: shard %d of %d; %s", path, m.Shard, m.Of, again)
	case filepath.Base(path) != Name(m.Shard, m.Of)+manifestEnding:
		return nil, fmt.Errorf("%s describes shard %d of %d: it was renamed", path, m.Shard, m.Of)
	}
	return m, nil
}

// ErrSet is returned for shards that do not form a complete set.
var ErrSet = errors.New("the shards are not a complete set")

// ReadSet reads the manifests of all shards in folders, and returns them in order. It refuses a set
// with a missing or duplicate shard, or with different schemes.
func ReadSet(dirs []string) ([]*Manifest, error) { return readShards(dirs, true) }

// ReadShards is ReadSet, or reads any shards of a set if paths name manifests.
func ReadShards(paths []string) ([]*Manifest, error) {
	return readShards(paths, !slices.ContainsFunc(paths, isManifest))
}

func isManifest(path string) bool { return strings.HasSuffix(path, manifestEnding) }

func readShards(paths []string, whole bool) (set []*Manifest, err error) {
	for _, path := range paths {
		dir, names := path, []string{""}
		if whole || !isManifest(path) {
			if names, err = fs.Glob(os.DirFS(dir), "shard-*"+manifestEnding); err != nil {
				return nil, err
			}
		}
		for _, name := range names {
			m, err := readManifest(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			set = append(set, m)
		}
	}
	slices.SortStableFunc(set, func(a, b *Manifest) int { return a.Shard - b.Shard })
	return set, checkSet(set, paths, whole)
}

func checkSet(set []*Manifest, dirs []string, whole bool) error {
	if len(set) == 0 {
		return fmt.Errorf("%w: no finished shard in %s; make them with firstseen bulk features", ErrSet, strings.Join(dirs, ", "))
	}
	first := set[0]
	missing := func(shard, of int) error {
		return fmt.Errorf("%w: shard %d of %d is missing; make it with firstseen bulk features --shard %d/%d", ErrSet, shard, of, shard, of)
	}
	digests := map[string]*Manifest{}
	for i, m := range set {
		switch {
		case m.Of != first.Of:
			return fmt.Errorf("%w: %s is one of %d shards, %s one of %d", ErrSet, m.path(""), m.Of, first.path(""), first.Of)
		case m.Scheme != first.Scheme:
			return fmt.Errorf("%w: %s has the scheme %s, %s the scheme %s; make all shards with the same version, --method and --secret", ErrSet, m.path(""), m.Scheme, first.path(""), first.Scheme)
		case i > 0 && set[i-1].Shard == m.Shard:
			return fmt.Errorf("%w: shard %d is there twice, as %s and %s", ErrSet, m.Shard, set[i-1].path(""), m.path(""))
		case whole && m.Shard != i+1:
			return missing(i+1, m.Of)
		}
		if other := digests[m.Digest]; other != nil && m.Documents > 0 {
			return fmt.Errorf("%w: shards %d and %d have the same documents of the same inputs: an input was given to both", ErrSet, other.Shard, m.Shard)
		}
		digests[m.Digest] = m
	}
	if whole && len(set) < first.Of {
		return missing(len(set)+1, first.Of)
	}
	return nil
}

// A Doc is a document of a shard. Its slices are valid until the next one is read, ID and Sketch.Data
// as long as its record.
type Doc struct {
	Input  int // index into Manifest.Inputs
	At     corpus.Place
	ID     []byte
	Time   time.Time // zero if unknown
	Sketch feature.Sketch

	keys []uint64 // set by readKeys
}

var errRecord = errors.New("a document differs from what this version of firstseen writes: remove the shard and its manifest, and make it again")

const (
	flagTruncated = 1 << iota
	flagTime
	flagOrders
)

// appendRecord appends a document. The keys come first, because most readers need nothing else.
// Orders are written if the scheme has a secret; otherwise a segment's key is its order.
func appendRecord(dst []byte, d *Doc, keyed bool) []byte {
	le, s := binary.LittleEndian, &d.Sketch
	dst = binary.AppendUvarint(dst, uint64(len(s.Features)))
	for i := range s.Features {
		dst = le.AppendUint64(dst, s.Features[i].Key)
	}
	dst = le.AppendUint64(dst, s.Whole)
	dst = append(dst, flagsOf(d, keyed))
	dst = binary.AppendUvarint(dst, uint64(d.Input))
	dst = binary.AppendVarint(binary.AppendVarint(dst, d.At.Part), d.At.Record)
	if !d.Time.IsZero() {
		dst = binary.AppendVarint(binary.AppendVarint(dst, d.Time.Unix()), int64(d.Time.Nanosecond()))
	}
	dst = appendBytes(dst, d.ID)
	dst = binary.AppendUvarint(dst, uint64(s.Leads))
	for i := range s.Features[:s.Parts()] {
		f := &s.Features[i]
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(f.Width)), uint64(f.Units))
		if keyed {
			dst = le.AppendUint64(dst, f.Order)
		}
	}
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, s.Width), s.Units)
	return appendBytes(dst, s.Data)
}

func flagsOf(d *Doc, keyed bool) (flags byte) {
	if d.Sketch.Truncated {
		flags |= flagTruncated
	}
	if !d.Time.IsZero() {
		flags |= flagTime
	}
	if keyed {
		flags |= flagOrders
	}
	return flags
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// AppendSketch appends a sketch without a secret, in the form of a record.
func AppendSketch(dst []byte, s *feature.Sketch) []byte {
	return appendRecord(dst, &Doc{Sketch: *s}, false)
}

// ParseSketch reads a sketch written by AppendSketch.
func ParseSketch(s *feature.Sketch, record []byte) error {
	d, data := Doc{Sketch: *s}, s.Data
	err := d.read(record)
	*s = d.Sketch
	s.Data = append(data[:0], s.Data...)
	return err
}

// readKeys reads the keys of a record: those of its features, and that of the whole text.
func (d *Doc) readKeys(record []byte) (rest fields.Reader, err error) {
	rest.Rest = record
	n := rest.Uvarint()
	if rest.Short || n >= maxSlots || uint64(len(rest.Rest)) < 8*(n+1) {
		return rest, errRecord
	}
	d.keys = slices.Grow(d.keys[:0], int(n)+1)
	for range n + 1 {
		d.keys = append(d.keys, rest.Uint64())
	}
	return rest, nil
}

func (d *Doc) readRest(r fields.Reader) error {
	s, n := &d.Sketch, len(d.keys)-1
	*s = feature.Sketch{Features: s.Features[:0], Whole: d.keys[n]}
	s.Features = slices.Grow(s.Features, n)
	for _, key := range d.keys[:n] {
		s.Features = append(s.Features, feature.Feature{Key: key, Order: key})
	}
	flags := r.Byte()
	s.Truncated = flags&flagTruncated != 0
	d.Input, d.At.Part, d.At.Record = int(r.Uvarint()), r.Varint(), r.Varint()
	if d.Time = (time.Time{}); flags&flagTime != 0 {
		seconds := r.Varint()
		d.Time = time.Unix(seconds, r.Varint()).UTC()
	}
	d.ID = r.Bytes()
	leads := r.Uvarint()
	if leads > uint64(n) {
		return errRecord
	}
	s.Leads = int(leads)
	for i := range s.Parts() {
		f := &s.Features[i]
		f.Width, f.Units = uint32(r.Uvarint()), uint32(r.Uvarint())
		if flags&flagOrders != 0 {
			f.Order = r.Uint64()
		}
	}
	s.Width, s.Units = r.Uvarint(), r.Uvarint()
	s.Data = r.Bytes()
	if r.Short || len(r.Rest) > 0 {
		return errRecord
	}
	return nil
}

func (d *Doc) read(record []byte) error {
	rest, err := d.readKeys(record)
	if err != nil {
		return err
	}
	return d.readRest(rest)
}
