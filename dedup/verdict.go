package dedup

import (
	"fmt"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
)

// Score names the whole that a share refers to.
type Score = method.Score

const (
	// ScoreText weighs a segment by the runs of three words it holds: shares are
	// shares of text.
	ScoreText = method.ScoreText
	// ScoreSegments counts every segment as one, the slide's rule.
	ScoreSegments = method.ScoreSegments
)

// Verdict is the decision about a document. The numbers are part of the side table's format.
type Verdict uint8

const (
	// Unique: no earlier document, and no group of them, holds the
	// threshold's share of the text.
	Unique Verdict = iota
	// Duplicate: one earlier kept document, the witness, holds at least the
	// threshold's share of the text. The document is removed.
	Duplicate
	// Mosaic: several earlier documents together reach the threshold. None does so alone, neither
	// over the whole nor over the comparable part. Kept, unless Rules.RemoveMosaics.
	Mosaic
	// Related: one earlier document reaches the threshold alone, but over the
	// comparable segments only, or with too few of them to justify a removal
	// (a page that quotes a long passage). Always kept, whatever others share.
	Related
)

var verdictNames = [...]string{"unique", "duplicate", "mosaic", "related"}

// String returns the name that reports use.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Source is an earlier kept document that shares segments with the one judged.
type Source struct {
	Num    uint32 // the table's number of the document, from 1
	ID     string // the user's id of it
	Shared int    // segments it shares with the judged document
	// Weight is what those segments weigh: the runs of three words in them,
	// or their number with ScoreSegments.
	Weight uint64
}

// Result is the decision about one document.
type Result struct {
	Verdict Verdict
	// Kept says whether the document belongs to the output and entered the
	// index.
	Kept bool
	// Exact: the whole canonical text equals the witness's, and so does the number of segments if
	// one has five or more. Without a table only the text is known.
	Exact bool
	// SameID: the witness has the id of the judged document: the same page
	// fetched again.
	SameID bool
	// Again: the document was kept before, with this id and this text, and, if it
	// is kept again, the verdict is the one it had then. Of is that document. See
	// Job.Retries.
	Again bool
	// Of is the witness of a Duplicate and the source of a Related; zero
	// otherwise.
	Of Source
	// Score is the share, 0 to 1, that Of holds. It refers to the whole text, or for a Related to
	// the comparable part; for a Mosaic, it is that of the best source.
	Score float64
	// Contained is the share, 0 to 1, of the document that stands in Of, as far as
	// is known, whatever else Of holds; and Estimated says that it and Score come
	// from sketches of the whole texts and not from the segments shared.
	Contained float64
	Estimated bool
	// New is, for a Related, a long passage missing entirely from Of: without it the document would
	// be a copy. It ends at 0 if there is none.
	New feature.Passage
	// Counted: the document is removed, and counts as a holder of its keys shared with others, as
	// kept ones do. It is in the store, and never named.
	Counted bool
	// Distance is the number of bits in which the fingerprints of the two differ, if the method
	// uses that; ByDistance reports whether it does. It is not set for an exact copy.
	Distance   int
	ByDistance bool
	// Confirm is the result of comparing the texts, if Asked says that copies had to be confirmed.
	// For a Duplicate it compares Of; for others, the best candidate that was not confirmed.
	Confirm Confirmation
	Asked   bool
	// Seen is the share, 0 to 1, of the document that all earlier documents together hold. It is 0
	// for a Unique, for which it was not asked. Segments that MaxHolders kept documents hold
	// already are no evidence, neither here nor in Score.
	Seen float64
	// Passages of a kept document stand in earlier documents, in the order of its text. Covered of its
	// PassageUnits words are in passages, Left are outside what can be cut. If Consumed, hardly
	// anything is left. They are for a Config.Passages to set.
	Passages                    []passages.Passage
	PassageUnits, Covered, Left int
	Consumed                    bool
	// Segments is the number of segments chosen from the document, OfSegments
	// that of the witness, and Comparable how many of the document's own the
	// witness could have shared (see "Comparable segments" in docs/design.md).
	Segments, OfSegments, Comparable int
	// Also lists the other sources, the heaviest first, at most MaxAlso. The
	// slice is reused by the next decision.
	Also []Source
	// SharedSegments are the positions in feature.Sketch.Features of the
	// segments shared with Of (with any source, for a Mosaic), longest
	// first. The slice is reused by the next decision. Empty for an exact
	// copy, all of whose segments are shared.
	SharedSegments []int
}

// MaxAlso bounds Result.Also.
const MaxAlso = 8
