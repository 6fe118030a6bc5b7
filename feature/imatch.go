package feature

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

// imatch is the method I-Match (Chowdhury, Frieder, Grossman, McCabe, "Collection Statistics for
// Fast Duplicate Document Detection", ACM TOIS 20, 2002). Only terms that are neither common nor
// rare in a collection count. Two documents are copies if they have the same set of counting terms.
var imatch = registered{
	Info: Info{
		Name:  "imatch",
		Help:  "the terms neither common nor rare are the same (I-Match); needs terms=FILE",
		Score: "1",
	},
	rules:       "imatch1-" + canon.Version,
	weighsTerms: true,
	numbers: []number{
		{letter: "i", of: func(s *Scheme) *int { return &s.LeastRare }},
		{of: func(s *Scheme) *int { return &s.MostRare }},
	},
	settle:    settleRarities,
	features:  func(Scheme) int { return 1 },
	extractor: newMatchExtractor,
	judge: func(Scheme, method.Rules) method.Judge {
		return &signatureJudge{signature: &termsHash, compare: compareHashes}
	},
}

// The default limits of rarity, in hundredths of the rarity of a term in one document, and the
// minimum number of distinct counting terms.
const (
	defaultLeast = 30
	defaultMost  = 70
	minTerms     = 5
)

// ErrNoTerms is returned if the scheme has no table of terms.
var ErrNoTerms = errors.New("the method imatch needs a table of terms: make one with firstseen index terms, and give it with --method imatch:terms=FILE")

func settleRarities(s *Scheme) error {
	if s.Terms == nil {
		return ErrNoTerms
	}
	if s.MostRare == 0 {
		s.LeastRare, s.MostRare = defaultLeast, defaultMost
	}
	if s.LeastRare < 0 || s.MostRare > 100 || s.LeastRare >= s.MostRare {
		return fmt.Errorf("feature scheme: a rarity of terms from %d to %d, want two numbers from 0 to 100, the smaller first", s.LeastRare, s.MostRare)
	}
	return nil
}

// termsHash describes a prefix of the SHA-256 of the counting terms.
var termsHash = signature{
	bytes:   sumBytes,
	damaged: errors.New("the stored data of a document is not a hash of its terms: the store is damaged, or another program wrote it"),
}

func compareHashes(own *method.Sketch, other *stored) (f method.Finding) {
	if bytes.Equal(own.Data, other.signature) {
		f.Relation, f.Score, f.Share = method.Copy, 1, 1
	}
	return f
}

type matchExtractor struct {
	table       *terms.Table
	least, most uint64 // rarities times 100
	reader      *terms.Reader
	hash        digest.Hasher
	chosen      []uint64
	bytes       []byte
}

func newMatchExtractor(s Scheme) method.Extractor {
	rarest := uint64(s.Terms.MaxRarity())
	return &matchExtractor{
		table: s.Terms, least: uint64(s.LeastRare) * rarest, most: uint64(s.MostRare) * rarest,
		reader: terms.NewReader(s.Key), hash: digest.New(s.Key),
	}
}

// Extract hashes the counting terms, if at least minTerms, into one feature and the data.
func (e *matchExtractor) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.chosen = e.chosen[:0]
	dst.Whole = e.reader.Terms(text, e.add)
	e.distinct()
	if len(e.chosen) < minTerms {
		return
	}
	e.bytes = e.bytes[:0]
	for _, term := range e.chosen {
		e.bytes = binary.LittleEndian.AppendUint64(e.bytes, term)
	}
	sum := sha256.Sum256(e.bytes)
	dst.Data = append(dst.Data, sum[:sumBytes]...)
	dst.Features = append(dst.Features, lead(&e.hash, dst.Data))
	dst.Leads = 1
}

// add takes the next terms of the text. It removes repeats early to bound the memory.
func (e *matchExtractor) add(hashes []uint64) {
	for _, term := range hashes {
		if rarity := 100 * uint64(e.table.Rarity(term)); rarity >= e.least && rarity <= e.most {
			e.chosen = append(e.chosen, term)
		}
	}
	if len(e.chosen) > 1<<16 {
		e.distinct()
	}
}

func (e *matchExtractor) distinct() {
	slices.Sort(e.chosen)
	e.chosen = slices.Compact(e.chosen)
}
