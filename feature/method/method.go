// Package method defines a method: how a text becomes a sketch, and how two sketches compare.
// Package dedup knows methods by these types alone, and package feature lists them.
//
// A [Method] makes a [Sketch] from a text: features, each with a key to look up, and the record
// stored with the document. An [Extractor] makes the sketches, one for each worker. A [Judge], one
// for each deciding goroutine, holds the sketch of the document under judgement. It compares that
// sketch with the stored records of others. Neither reads or writes anything but its arguments, so
// both can be tried alone.
//
// docs/extend.md, "Add a method", goes through it step by step, and says how the known methods fit.
package method

import "slices"

// A Method is a way to recognise near copies, with its settings.
type Method interface {
	// Name identifies the method, its rules, its settings and its secret in every
	// file made with it. Sketches under two names cannot be compared.
	Name() string
	// Features is the most features that a text can have.
	Features() int
	// NewExtractor returns an Extractor, for one goroutine.
	NewExtractor() Extractor
	// NewJudge returns a Judge, for one goroutine.
	NewJudge(Rules) Judge
}

// An Extractor makes sketches.
type Extractor interface {
	// Extract overwrites dst with the sketch of text, whatever its bytes, using the
	// memory that dst has, and keeps no reference to either.
	Extract(dst *Sketch, text []byte)
}

// A Feature is a property that two documents can share: a segment, a run of words, a band of a
// signature.
type Feature struct {
	// Key is the hash to look up, made with the secret of the index, if it has one.
	Key uint64

	// Order is a hash of the same without the secret, so choices made by it are the same under any
	// secret. It does not prove that two features are the same: collisions can be constructed.
	Order uint64

	// Width is the length in columns, and Units in words; see package canon. Both are 0 if the
	// method has no use for them.
	Width, Units uint32

	// Start and End are the byte range in the text that a report may quote, both 0
	// for none. A text's part beyond 4 GiB is treated as all other text, but
	// offsets stop there.
	Start, End uint32
}

// A Sketch holds what a method extracts from one text. It holds no pointers into the text and can
// be reused.
type Sketch struct {
	// Features are distinct, in the method's order; at most Method.Features.
	Features []Feature

	// Leads is how many of them, the last, only find candidates: they are no parts
	// of the text that a result counts and shows.
	Leads int

	// Whole is the fingerprint of the whole text: of all its canonical words and
	// symbols in order, however short it is.
	Whole uint64

	// Width is the text's length in columns: of the chosen features, once each, and
	// of every piece too short to be one. As the denominator of a share of text it
	// has a meaning only when the sketch is not Truncated.
	Width uint64

	// Units is the same in words.
	Units uint64

	// Truncated says that the text has more features than were chosen.
	Truncated bool

	// Data is what else the method knows, such as a signature: at most MaxData bytes.
	Data []byte

	// Picks are the keys of the runs by which passages are found, in the order of the text, and
	// PickList is their passages.List. Words is how many words the text has. All are empty if the
	// method finds no passages.
	Picks    []uint64
	PickList []byte
	Words    int
}

// MaxData is the most bytes of Sketch.Data.
const MaxData = 640

// Parts is how many of the features, the first, are parts of the text.
func (s *Sketch) Parts() int { return len(s.Features) - s.Leads }

// Rules are the user's choices for judging.
type Rules struct {
	// Threshold is the share, above 0 and at most 1, that makes a near copy.
	Threshold float64
	// Score names the whole that the share refers to, if the method leaves a choice.
	Score Score
}

// Score names the whole that a share refers to.
type Score uint8

const (
	// ScoreText weighs features by the words they hold: shares are shares of text.
	ScoreText Score = iota
	// ScoreSegments counts every feature as one.
	ScoreSegments
)

// A Judge holds the document under judgement. Weights are in the method's own unit; Whole returns
// the weight of the whole document.
type Judge interface {
	// Load makes s the document under judgement, until the next Load.
	Load(s *Sketch)
	// Record appends the data stored with the document to dst.
	Record(dst []byte) []byte
	// Same reports whether a stored record says that its document is the same text, and how many
	// features that document has. It is asked about documents kept under the same Whole.
	Same(record []byte) (same bool, features int, err error)

	// Weight is the weight of sharing the i-th feature. Size is the feature's weight as a part of
	// the text, and no less than Weight.
	Weight(i int) uint64
	Size(i int) uint64
	// Whole is the size of the document.
	Whole() uint64

	// MayReach reports whether the document could be anything but unique, if it
	// shared all features that are marked, and no others. A no costs no look-up.
	MayReach(seen []bool) bool
	// Select appends the positions of those candidates whose records are to be
	// compared to dst: the fewer, the less is read.
	Select(dst []int, f *Found) []int
	// Compare compares the document with a candidate by the candidate's stored record.
	Compare(c *Candidate, record []byte) (Finding, error)
}

// Found is the table's answer about the document's features.
type Found struct {
	// Candidates are the documents that hold any of them, in order of arrival.
	Candidates []Candidate
	// Common are the positions of the features that are held by more documents
	// than are named, ascending.
	Common []uint32
}

// A Candidate is an earlier document that holds some of the features.
type Candidate struct {
	Num    uint32   // the store's number of it; a lower one is earlier
	Shared []uint32 // positions of the features that are not common, ascending
	Weight uint64   // of them
	// CommonWeight is that of the common features it is named for. They are
	// seldom evidence: many others hold them too.
	CommonWeight uint64
	// CountedWeight is that of those among them that documents hold which were removed.
	CountedWeight uint64
	// CountedLeads is how many of these features are leads.
	CountedLeads int
}

// A Relation is what one document is to another.
type Relation uint8

const (
	// Unrelated: nothing that matters.
	Unrelated Relation = iota
	// Related: it shares enough to be reported, and is kept.
	Related
	// Copy: the other stands for it.
	Copy
)

// A Finding is the outcome of a comparison.
type Finding struct {
	Relation Relation
	// Score is the share of the whole document that the candidate holds. Among several candidates
	// it is a Copy of, the one with the best Score counts.
	Score float64
	// Share is the share of the comparable part. Among several candidates it is Related to, the one
	// with the largest Share counts.
	Share float64
	// Comparable is how many of its features the candidate could have shared.
	Comparable int
	// Features is how many the candidate has.
	Features int
	// Contained is the share of the document that stands in the candidate, and
	// Estimated whether it and Score were estimated from sketches.
	Contained float64
	Estimated bool
	// Thin: a Copy by so little that the document counts for its common features.
	Thin bool
	// New is a long passage of the document missing entirely from the candidate. It makes the
	// document Related instead of a Copy.
	New Passage
	// Distance is the number of bits in which the fingerprints differ, if the method uses that;
	// ByDistance reports whether it does.
	Distance   int
	ByDistance bool
	// Sure: it is a Copy, and reading both texts would not change that.
	Sure bool
	// Open: the document is so short that the two records do not settle whether it is a copy. A
	// caller with both texts should compare them.
	Open bool
}

// A Passage is a stretch of a text of so many words, from its first word to the one behind
// its last. One that ends at 0 is none.
type Passage struct{ From, To, Of uint64 }

// Share is the quotient of two weights, or 0 if there is nothing. It is exact to the last bit while
// both are below 2^53: a quotient equal to the decimal threshold given is the same double (rule 11
// of docs/design.md).
func Share(weight, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return float64(weight) / float64(of)
}

// A Rememberer is a Method that finds documents by more than equal keys. It keeps all of them in
// memory and looks for the near ones there. Those found are looked up in the store as usual. Its
// documents are decided one after the other.
type Rememberer interface {
	Method
	// NewMemory returns an empty Memory.
	NewMemory() Memory
	// MemoryFor is about how many bytes a Memory of so many documents takes.
	MemoryFor(documents uint64) uint64
}

// A Memory knows all kept documents by their stored records. It is for one goroutine.
type Memory interface {
	// Add takes a document, by what its Judge's Record wrote.
	Add(record []byte) error
	// Near appends the features, without those twice, of all documents added that could
	// be found for s. Their order decides nothing.
	Near(dst []Feature, s *Sketch) []Feature
}

// A Reason is a step of a judgement in words, for a person.
type Reason struct {
	// Rule is the deciding rule of docs/design.md, "The decision", such as "13"; "" if the method
	// has its own.
	Rule string `json:"rule"`
	Says string `json:"says"`
}

// A Reasoner is a [Judge] that can explain Compare's finding. Decisions do not use it; it is for
// a person's questions about one pair.
type Reasoner interface {
	// Reasons explains the comparison of the document under judgement with a candidate,
	// after Select was asked.
	Reasons(c *Candidate, record []byte) ([]Reason, error)
}

// ByKeys has the methods of a [Judge] whose features only find candidates and are no parts of the
// text that a result counts. Every candidate found is compared.
type ByKeys struct {
	Sketch *Sketch // of the document under judgement
}

// Load makes s the document under judgement.
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
