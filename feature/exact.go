package feature

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

// exact is the method that finds only exact copies: documents with equal canonical texts.
// Punctuation, case, width and spaces do not matter. A document has no features: the fingerprint of
// its whole text finds others, and a cryptographic hash confirms them.
var exact = registered{
	Info: Info{
		Name: "exact", FilterOnly: true,
		Help:  "the whole text is the same, except for case, spaces and punctuation",
		Score: "1",
	},
	rules: "exact1-" + canon.Version,
	extractor: func(s Scheme) method.Extractor {
		return &exactExtractor{reader: terms.NewReader(s.Key), sum: sha256.New()}
	},
	judge: newSumJudge,
}

// sumBytes is the stored length of a SHA-256. A collision of 128 bits takes 2^64 trials.
const sumBytes = 16

type exactExtractor struct {
	reader *terms.Reader
	sum    hash.Hash
}

// Extract writes only the fingerprint and the first 128 bits of the canonical text's SHA-256.
func (e *exactExtractor) Extract(dst *method.Sketch, text []byte) {
	e.sum.Reset()
	whole := e.reader.Parts(text, func(part []byte) { e.sum.Write(part) })
	*dst = method.Sketch{Features: dst.Features[:0], Whole: whole, Data: e.sum.Sum(dst.Data[:0])[:sumBytes]}
}

type sumJudge struct{ method.ByKeys }

func newSumJudge(Scheme, method.Rules) method.Judge { return &sumJudge{} }

var errSum = errors.New("the stored data of a document is not a hash of its text: the store is damaged, or another program wrote it")

// Record appends the hash of the text to dst.
func (j *sumJudge) Record(dst []byte) []byte { return append(dst, j.Sketch.Data...) }

// Same compares the hashes of the two texts.
func (j *sumJudge) Same(record []byte) (same bool, features int, err error) {
	if len(record) != sumBytes {
		return false, 0, errSum
	}
	return bytes.Equal(record, j.Sketch.Data), 0, nil
}

// Compare is never called, because the method names no candidates.
func (*sumJudge) Compare(*method.Candidate, []byte) (method.Finding, error) {
	return method.Finding{}, fmt.Errorf("the method exact compares no candidates: %w", errSum)
}
