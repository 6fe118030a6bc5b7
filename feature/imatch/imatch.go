// Package imatch is the method I-Match (Chowdhury, Frieder, Grossman, McCabe, "Collection
// Statistics for Fast Duplicate Document Detection", ACM TOIS 20, 2002). Of a text's terms, those
// in neither too many nor too few documents of a collection count. Two documents are copies if
// these are the same, in whatever order and number.
package imatch

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/feature/words"
)

const version = "imatch1-" + canon.Version + "-"

// The default limits of the counting terms, in hundredths of the rarity of a term in one document,
// and the default least number of terms.
const (
	DefaultLeast = 30
	DefaultMost  = 70
	MinTerms     = 5
)

// sumBytes is how much of the SHA-256 of the chosen terms is stored.
const sumBytes = 16

// A Scheme is the method with its settings. It needs Terms.
type Scheme struct {
	// Terms says how rare a term is.
	Terms *terms.Table
	// Least and Most are how rare a term that counts is, in hundredths of
	// Terms.MaxRarity; Most 0 is both defaults.
	Least, Most int
	// Key, if not nil, is a secret of 16 bytes for fingerprints and keys.
	Key []byte
}

// ErrNoTerms is returned if the table of terms is missing.
var ErrNoTerms = errors.New("the method imatch needs a table of terms: make one with firstseen terms, and give it with --method imatch:terms=FILE")

// Validate reports the first field out of range.
func (s Scheme) Validate() error {
	s = s.filled()
	if s.Terms == nil {
		return ErrNoTerms
	}
	if s.Least < 0 || s.Most > 100 || s.Least >= s.Most {
		return fmt.Errorf("feature scheme: terms of a rarity from %d to %d, want two of 0 to 100, the smaller first", s.Least, s.Most)
	}
	return digest.Check(s.Key)
}

func (s Scheme) filled() Scheme {
	if s.Most == 0 {
		s.Least, s.Most = DefaultLeast, DefaultMost
	}
	return s
}

// Name identifies the scheme, for instance "imatch1-u15b-xxh3-t0123456789abcdef-i30-70":
// version, canonical form, hash, digest of the table of terms, rarities.
func (s Scheme) Name() string {
	s = s.filled()
	return fmt.Sprintf("%s%s-t%s-i%d-%d", version, digest.Name(s.Key), s.Terms.Digest(), s.Least, s.Most)
}

// Named returns the scheme of a name, and whether it is one of this method under this
// key and with this table of terms.
func Named(name string, key []byte, table *terms.Table) (Scheme, bool) {
	s := Scheme{Key: key, Terms: table}
	if !strings.HasPrefix(name, version) {
		return s, false
	}
	for at := range name {
		if n, _ := fmt.Sscanf(name[at:], "-i%d-%d", &s.Least, &s.Most); n == 2 {
			break
		}
	}
	return s, s.Validate() == nil && s.Name() == name
}

// Features is 1: the terms that count, together.
func (Scheme) Features() int { return 1 }

// NewExtractor returns an Extractor. The scheme must be valid.
func (s Scheme) NewExtractor() method.Extractor { return NewExtractor(s) }

// NewJudge returns a Judge. The rules have nothing to say to it.
func (Scheme) NewJudge(method.Rules) method.Judge { return &Judge{} }

// An Extractor makes sketches. It is not for concurrent use: have one for each worker.
type Extractor struct {
	table       *terms.Table
	least, most uint64 // rarities, times 100
	reader      *words.Reader
	hash        digest.Hasher
	take        func([]uint64)
	chosen      []uint64
	bytes       []byte
}

// NewExtractor returns an Extractor for the scheme, which must be valid.
func NewExtractor(s Scheme) *Extractor {
	if err := s.Validate(); err != nil {
		panic(err)
	}
	s = s.filled()
	rarest := uint64(s.Terms.MaxRarity())
	e := &Extractor{
		table: s.Terms, least: uint64(s.Least) * rarest, most: uint64(s.Most) * rarest,
		reader: words.NewReader(s.Key), hash: digest.New(s.Key),
	}
	e.take = e.add
	return e
}

// Extract overwrites dst with the sketch of text: one feature for its terms that count,
// if there are MinTerms of them or more, and a hash of them as data.
func (e *Extractor) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.chosen = e.chosen[:0]
	dst.Whole = e.reader.Terms(text, e.take)
	e.distinct()
	if len(e.chosen) < MinTerms {
		return
	}
	e.bytes = e.bytes[:0]
	for _, term := range e.chosen {
		e.bytes = binary.LittleEndian.AppendUint64(e.bytes, term)
	}
	sum := sha256.Sum256(e.bytes)
	dst.Data = append(dst.Data, sum[:sumBytes]...)
	order := digest.Order(dst.Data)
	dst.Features = append(dst.Features, method.Feature{Key: e.hash.Key(dst.Data, order), Order: order})
	dst.Leads = 1
}

// add takes the next terms of the text. If many repeat, they are made distinct before they take
// more memory.
func (e *Extractor) add(terms []uint64) {
	for _, term := range terms {
		if rarity := 100 * uint64(e.table.Rarity(term)); rarity >= e.least && rarity <= e.most {
			e.chosen = append(e.chosen, term)
		}
	}
	if len(e.chosen) > 1<<16 {
		e.distinct()
	}
}

func (e *Extractor) distinct() {
	slices.Sort(e.chosen)
	e.chosen = slices.Compact(e.chosen)
}

// A Judge compares documents by the hashes of their terms.
type Judge struct {
	method.ByKeys
}

var errRecord = errors.New("what is stored of a document is no hash of its terms: the store is damaged, or another program's")

// Record appends the fingerprint of the whole text and the hash of the terms that count,
// if there is one.
func (j *Judge) Record(dst []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(dst, j.Sketch.Whole), j.Sketch.Data...)
}

// parse reads what Record has written.
func parse(record []byte) (whole uint64, sum []byte, err error) {
	if len(record) != 8 && len(record) != 8+sumBytes {
		return 0, nil, errRecord
	}
	return binary.LittleEndian.Uint64(record), record[8:], nil
}

// Same compares fingerprints and terms.
func (j *Judge) Same(record []byte) (same bool, features int, err error) {
	whole, _, err := parse(record) // terms go by how a text is cut, and a comma may cut it
	return err == nil && whole == j.Sketch.Whole, 0, err
}

// Compare compares the terms.
func (j *Judge) Compare(_ *method.Candidate, record []byte) (f method.Finding, err error) {
	_, sum, err := parse(record)
	if err == nil && len(sum) > 0 && bytes.Equal(sum, j.Sketch.Data) {
		f.Relation, f.Score, f.Share = method.Copy, 1, 1
	}
	return f, err
}
