package dedup

import (
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
)

// Score names the denominator of a share.
type Score = method.Score

const (
	// ScoreText weighs a segment by its runs of three words, so shares are shares of text.
	ScoreText = method.ScoreText
	// ScoreSegments counts every segment as one.
	ScoreSegments = method.ScoreSegments
)

// Verdict is the decision about a document. The numbers are part of the side table's format.
type Verdict uint8

const (
	// Unique: no earlier documents hold the threshold's share of the text, alone or together.
	Unique Verdict = iota
	// Duplicate: one earlier kept document, the witness, holds at least the threshold's share of
	// the text. The document is removed.
	Duplicate
	// Mosaic: several earlier documents together reach the threshold, but none alone. Kept, unless
	// Rules.RemoveMosaics.
	Mosaic
	// Related: one earlier document reaches the threshold alone, but is no copy: a page that quotes
	// it, or a post with another number. Always kept, whatever others share.
	Related
)

var verdictNames = [...]string{"unique", "duplicate", "mosaic", "related"}

// String returns the name for reports.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Source is an earlier kept document that shares segments with the one judged.
type Source struct {
	Num    uint32 // the document's number in the table, from 1
	ID     string // its id, given by the user
	Shared int    // segments shared with the judged document
	// Weight is the weight of those segments: their runs of three words, or their number with
	// ScoreSegments.
	Weight uint64
}

// A Result is the decision about one document. Its slices are valid until the next decision, except
// in a result of See or Clone.
type Result struct {
	Verdict Verdict
	// Kept reports whether the document belongs to the output and entered the index.
	Kept bool
	// Exact: the whole canonical texts are equal (rule 2), or without a table their fingerprints.
	Exact bool
	// SameID: the witness has the id of the judged document: the same page fetched again.
	SameID bool
	// Again: the document was kept before, with the same id and text. If it is kept again, the
	// verdict is the previous one. Of is the earlier document. A Deduper leaves it to its caller.
	Again bool
	// Of is the witness of a Duplicate or the source of a Related, else zero.
	Of Source
	// Score is the share, 0 to 1, that Of holds. For a Mosaic it is that of the best source.
	Score float64
	// Contained is the known share, 0 to 1, of the document in Of, whatever else Of holds.
	// Estimated reports that it and Score come from sketches, not from shared segments.
	Contained float64
	Estimated bool
	// New is, for a Related, a long passage missing entirely from Of, without which the document
	// would be a copy. Its To is 0 if there is none.
	New feature.Passage
	// Differ is, for a Related that is short, what makes it no copy: numbers, negation, word, length.
	Differ string
	// Counted: the document is removed, but counts as a holder of its keys, like kept ones. It is
	// stored, but never named.
	Counted bool
	// Distance is the number of differing bits of the two fingerprints, valid if ByDistance is set.
	// It is not set for an exact copy.
	Distance   int
	ByDistance bool
	// Confirm is the result of comparing the texts, valid if Asked is set. For a Duplicate it
	// compares Of; for others, the best unconfirmed candidate.
	Confirm Confirmation
	Asked   bool
	// Seen is the share, 0 to 1, of the document that all earlier documents together hold. It is 0
	// for a Unique, whether or not its keys were looked up. Segments already held by MaxHolders
	// kept documents are no evidence, neither here nor in Score.
	Seen float64
	// Passages of a kept document occur in earlier documents, in the order of its text. Of its
	// PassageUnits words, Covered are in passages, and Left are outside the segments that can be
	// cut. If Consumed, hardly anything is left. Config.Passages sets these fields.
	Passages                    []passages.Passage
	PassageUnits, Covered, Left int
	Consumed                    bool
	// Segments is the number of segments chosen from the document, and OfSegments from the witness.
	Segments, OfSegments int
	// Also lists up to 8 other sources, the heaviest first.
	Also []Source
	// SharedSegments are the positions in feature.Sketch.Features of the segments shared with Of
	// (with any source, for a Mosaic), longest first. It is empty for an exact copy, which shares
	// all segments.
	SharedSegments []int
}

// maxAlso is the maximum length of Result.Also.
const maxAlso = 8

// Clone returns a copy of the result that stays valid after the next decision.
func (r Result) Clone() Result {
	r.Also, r.SharedSegments = slices.Clone(r.Also), slices.Clone(r.SharedSegments)
	return r
}
