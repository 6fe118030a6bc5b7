// Package method defines the interface of a method: how it turns a text into a sketch and how it
// compares two sketches. Package dedup uses methods through these types alone, and package feature
// lists them.
//
// A [Method] turns a text into a [Sketch]: features, each with a key for look-ups, and the data
// stored with the document. An [Extractor] makes sketches, one for each worker. A [Judge], one for
// each deciding goroutine, holds the sketch of the document under judgement. It compares this
// sketch with the stored records of others. Neither reads or writes anything but its arguments, so
// both can be tested alone.
//
// See docs/extend.md, "Add a method", for a step-by-step guide.
package method

import (
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
)

// WholeKeys is the number of keys for the whole text of a document in a filter without a table, for
// finding copies of any length. One key is wrongly seen once in 1,700 at design load, four with a
// chance of 1e-13.
const WholeKeys = 4

// A Method recognises near copies. It includes its settings.
type Method interface {
	// Name identifies the method, its rules, settings and secret in every file made with it.
	// Sketches are comparable only under equal names.
	Name() string
	// Features returns the maximum number of features of a text.
	Features() int
	// NewExtractor returns an Extractor for one goroutine.
	NewExtractor() Extractor
	// NewJudge returns a Judge for one goroutine.
	NewJudge(Rules) Judge
}

// An Extractor makes sketches.
type Extractor interface {
	// Extract overwrites dst with the sketch of text, which may hold any bytes. It reuses the
	// memory of dst and keeps no reference to either argument.
	Extract(dst *Sketch, text []byte)
}

// A Feature is a property that two documents can share: a segment, a run of words, a band of a
// signature.
type Feature struct {
	// Key is the hash for look-ups, made with the secret of the index if there is one.
	Key uint64

	// Order is a hash of the same data without the secret, for choices that must not depend on the
	// secret. Equal Orders do not prove equal features: collisions can be constructed.
	Order uint64

	// Width is the length in columns, and Units in words; see package canon. Both are 0 if the
	// method does not use them.
	Width, Units uint32

	// Start and End are the byte range in the text that a report may quote, or both 0. Offsets stop
	// at 4 GiB; text beyond is otherwise treated alike.
	Start, End uint32
}

// A Sketch holds the data of one text. It has no pointers into the text and is reusable.
type Sketch struct {
	// Features are distinct and in the method's order, at most Method.Features.
	Features []Feature

	// Leads is the number of features, the last ones, that only find candidates. Results neither
	// count nor show them as parts of the text.
	Leads int

	// Whole is the fingerprint of the whole text: all canonical words and symbols in order.
	Whole uint64

	// Width is the text's length in columns: each chosen feature once, and every piece too short to
	// be one. If Truncated, it cannot serve as the denominator of a share of text.
	Width uint64

	// Units is like Width, but in words.
	Units uint64

	// Truncated reports that the text has more features than were chosen.
	Truncated bool

	// Data is other data of the method, such as a signature: at most MaxData bytes.
	Data []byte

	// Picks are the keys of the runs for finding passages, in text order, and PickList is their
	// passages.List. Words is the text's number of words. They are empty if unused.
	Picks    []uint64
	PickList []byte
	Words    int
	// Hashes are the lower halves of the words' hashes, and Places some places in the text.
	Hashes []uint32
	Places []canon.Place
}

// MaxData is the maximum length of Sketch.Data in bytes.
const MaxData = 2688

// Parts returns the number of leading features that are parts of the text.
func (s *Sketch) Parts() int { return len(s.Features) - s.Leads }

// Rules are the user's choices for judging.
type Rules struct {
	// Threshold is the share, above 0 and at most 1, that makes a near copy.
	Threshold float64
	// Score names the denominator of the share, if the method offers a choice.
	Score Score
}

// Score names the denominator of a share.
type Score uint8

const (
	// ScoreText weighs features by their words, so shares are shares of text.
	ScoreText Score = iota
	// ScoreSegments counts every feature as one.
	ScoreSegments
)

// A Judge holds the document under judgement. The unit of weights is up to the method.
type Judge interface {
	// Load sets the document under judgement, until the next Load.
	Load(s *Sketch)
	// Record appends the data stored with the document to dst.
	Record(dst []byte) []byte
	// Same reports whether a stored record describes the same text, and the number of features of
	// its document. It is called for documents with the same Whole.
	Same(record []byte) (same bool, features int, err error)

	// Weight is the weight of the i-th feature when shared. Size is its weight as a part of the
	// text, and no less than Weight.
	Weight(i int) uint64
	Size(i int) uint64
	// Whole returns the size of the whole document.
	Whole() uint64

	// MayReach reports whether the document could be anything but unique if it shared exactly the
	// marked features. If not, no look-up takes place.
	MayReach(seen []bool) bool
	// Select appends to dst the positions of the candidates whose records to compare. Fewer
	// positions mean fewer reads.
	Select(dst []int, f *Found) []int
	// Compare compares the document with a candidate, given the candidate's stored record.
	Compare(c *Candidate, record []byte) (Finding, error)
}

// Found is the result of looking up the document's features.
type Found struct {
	// Candidates are the documents that hold any of the features, in order of arrival.
	Candidates []Candidate
	// Common are the ascending positions of features with the maximum number of named holders.
	Common []uint32
}

// A Candidate is an earlier document that holds some of the features.
type Candidate struct {
	Num    uint32   // the store's number; lower means earlier
	Shared []uint32 // positions of the shared features that are not common, ascending
	Weight uint64   // of Shared
}

// A Relation is the relation of one document to another.
type Relation uint8

const (
	// Unrelated documents share nothing that matters.
	Unrelated Relation = iota
	// Related documents share enough for a report. The later one is kept.
	Related
	// Copy marks a document that the other one can replace.
	Copy
)

// A Finding is the outcome of a comparison.
type Finding struct {
	Relation Relation
	// Score is the share of the whole document that the candidate holds. Of several Copies, the
	// highest wins.
	Score float64
	// Share is the share of the document in a Related one. Of several, the largest wins.
	Share float64
	// Features is the candidate's number of features.
	Features int
	// Contained is the share of the document that the candidate contains. Estimated reports that it
	// and Score come from sketches.
	Contained float64
	Estimated bool
	// Thin marks a Copy with a passage of its own; it counts as a holder of its features, so that
	// the frame around the passage becomes common.
	Thin bool
	// New is a long passage of the document missing entirely from the candidate. It makes the
	// document Related instead of a Copy.
	New Passage
	// Differ names what makes the document no copy, such as "numbers"; "" if nothing does.
	Differ string
	// Distance is the number of differing bits of the fingerprints, valid if ByDistance is set.
	Distance   int
	ByDistance bool
	// Sure marks a Copy that reading both texts would not change.
	Sure bool
}

// A Passage is the letters From to To, exclusive, of a text of Of letters; see package letters. To is 0 for no passage.
type Passage struct{ From, To, Of uint64 }

// Share returns weight/of, or 0 if of is 0. It is exact to the last bit while both are below 2^53.
// So a quotient equal to the decimal threshold given is the same double (rule 10 of
// docs/design.md).
func Share(weight, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return float64(weight) / float64(of)
}

// A Rememberer is a Method that does not rely on equal keys alone. It keeps all documents in memory
// and finds close ones there, which are then looked up in the store as usual. Its documents are
// decided one after the other.
type Rememberer interface {
	Method
	// NewMemory returns an empty Memory.
	NewMemory() Memory
	// MemoryFor estimates the bytes of a Memory of that number of documents.
	MemoryFor(documents uint64) uint64
}

// A Memory holds all kept documents by their stored records. It is for one goroutine.
type Memory interface {
	// Add adds a document by its record, written by Judge.Record.
	Add(record []byte) error
	// Near appends the distinct features of all added documents that could match s. Their order
	// decides nothing.
	Near(dst []Feature, s *Sketch) []Feature
}

// A Reason explains a step of a judgement to a person.
type Reason struct {
	// Rule is a rule of docs/design.md, "The decision", such as "8", or "" for one of the method.
	Rule string `json:"rule"`
	Says string `json:"says"`
	Of   string `json:"of,omitempty"` // id of the earlier document, if it is about one
}

// A Reasoner is a [Judge] that can explain Compare's finding. Decisions do not use it; it answers a
// person's questions about one pair.
type Reasoner interface {
	// Reasons explains the comparison of the document under judgement with a candidate. The caller
	// must have called Select.
	Reasons(c *Candidate, record []byte) ([]Reason, error)
}

// ByKeys has the methods of a [Judge] whose features are all leads. It compares every candidate.
type ByKeys struct {
	Sketch *Sketch // of the document under judgement
}

// Load sets the document under judgement.
func (b *ByKeys) Load(s *Sketch) { b.Sketch = s }

// Weight is 0.
func (ByKeys) Weight(int) uint64 { return 0 }

// Size is 0.
func (ByKeys) Size(int) uint64 { return 0 }

// Whole is 0.
func (ByKeys) Whole() uint64 { return 0 }

// MayReach reports whether anything was seen.
func (ByKeys) MayReach(seen []bool) bool { return slices.Contains(seen, true) }

// Select selects all.
func (ByKeys) Select(dst []int, f *Found) []int {
	for i := range f.Candidates {
		dst = append(dst, i)
	}
	return dst
}
