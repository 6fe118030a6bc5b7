// Package exact is the method that knows exact copies alone: two documents are one
// when their canonical texts are, whatever their punctuation, case, width and spaces.
// It has no features. A document is looked up under the fingerprint of its whole text,
// and believed by a cryptographic hash of it.
package exact

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
)

const version = "exact1-" + canon.Version + "-"

// sumBytes is how much of the SHA-256 of a text is stored of it. To find two texts with
// equal 128 bits takes 2^64 trials.
const sumBytes = 16

// A Scheme is the method with its settings. Its zero value is the default.
type Scheme struct {
	// Key, if not nil, is a secret of 16 bytes for the fingerprints.
	Key []byte
}

// Validate reports a key of a wrong length.
func (s Scheme) Validate() error { return digest.Check(s.Key) }

// Name identifies the scheme, for instance "exact1-u15b-xxh3".
func (s Scheme) Name() string { return version + digest.Name(s.Key) }

// Named returns the scheme of a name, and whether it is one of this method under this
// key.
func Named(name string, key []byte) (Scheme, bool) {
	s := Scheme{Key: key}
	return s, strings.HasPrefix(name, version) && s.Validate() == nil && s.Name() == name
}

// Features is 0: a document is looked up by its whole text alone.
func (Scheme) Features() int { return 0 }

// NewExtractor returns an Extractor. The scheme must be valid.
func (s Scheme) NewExtractor() method.Extractor {
	if err := s.Validate(); err != nil {
		panic(err)
	}
	return &Extractor{whole: digest.New(s.Key), scanner: canon.NewScanner(), sum: sha256.New()}
}

// NewJudge returns a Judge. The rules have nothing to say to it.
func (Scheme) NewJudge(method.Rules) method.Judge { return &Judge{} }

// An Extractor makes sketches. It is not for concurrent use.
type Extractor struct {
	scanner *canon.Scanner
	whole   digest.Hasher
	sum     hash.Hash
	sha     [sha256.Size]byte
}

// Extract overwrites dst with the sketch of text: no features, the fingerprint, and the
// first 128 bits of the SHA-256 of the canonical text.
func (e *Extractor) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.whole.Reset()
	e.sum.Reset()
	e.scanner.Reset(text)
	for {
		step := e.scanner.Next()
		if step == canon.Piece {
			continue
		}
		part := e.scanner.Whole()
		e.sum.Write(part)
		if step == canon.End {
			dst.Whole = e.whole.Text(part)
			dst.Data = append(dst.Data, e.sum.Sum(e.sha[:0])[:sumBytes]...)
			return
		}
		e.whole.Part(part)
	}
}

// A Judge compares documents by their hashes.
type Judge struct {
	method.ByKeys
}

var errRecord = errors.New("what is stored of a document is no hash of its text: the store is damaged, or another program's")

// Record appends the hash of the text.
func (j *Judge) Record(dst []byte) []byte { return append(dst, j.Sketch.Data...) }

// Same compares the hashes of two texts.
func (j *Judge) Same(record []byte) (same bool, features int, err error) {
	if len(record) != sumBytes {
		return false, 0, errRecord
	}
	return bytes.Equal(record, j.Sketch.Data), 0, nil
}

// Compare is never asked.
func (*Judge) Compare(*method.Candidate, []byte) (method.Finding, error) {
	return method.Finding{}, fmt.Errorf("the method exact compares no candidates: %w", errRecord)
}
