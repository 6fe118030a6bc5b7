package dedup

import (
	"fmt"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// Score says what a share is a share of.
type Score = method.Score

const (
	// ScoreText weighs a segment by the runs of three words it holds: shares are
	// shares of text.
	ScoreText = method.ScoreText
	// ScoreSegments counts every segment as one, the slide's rule.
	ScoreSegments = method.ScoreSegments
)

// Verdict is what was decided about a document. The numbers are part of the side
// table's format.
type Verdict uint8

const (
	// Unique: no earlier document, and no group of them, holds the
	// threshold's share of the text.
	Unique Verdict = iota
	// Duplicate: one earlier kept document, the witness, holds at least the
	// threshold's share of the text. The document is removed.
	Duplicate
	// Mosaic: several earlier documents together reach the threshold, and
	// none alone, neither over the whole nor over what is comparable. Kept,
	// unless Rules.RemoveMosaics.
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
	// Exact: the whole canonical text equals the witness's, and so does the
	// number of segments where one has five or more. Without a table the text
	// alone is known.
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
	// Score is the share, 0 to 1, that Of holds: of the whole text, for a
	// Related of what can be compared; for a Mosaic, that of the best source.
	Score float64
	// Contained is the share, 0 to 1, of the document that stands in Of, as far as
	// is known, whatever else Of holds; and Estimated says that it and Score come
	// from sketches of the whole texts and not from the segments shared.
	Contained float64
	Estimated bool
	// New is, of a Related, a long passage of which Of has nothing: without it the document
	// would be a copy. It ends at 0 where there is none.
	New feature.Passage
	// Counted: the document is removed, and counts as a holder of what it has in common
	// with others, as kept ones do. It is in the store, and never named.
	Counted bool
	// Distance is in how many bits the fingerprints of the two differ, where the method
	// goes by that, which ByDistance says. Not of an exact copy.
	Distance   int
	ByDistance bool
	// Confirm is what comparing the texts came to, where Asked says that copies had to
	// be confirmed: of a Duplicate with Of, of others with the best that was none.
	Confirm Confirmation
	Asked   bool
	// Seen is the share, 0 to 1, that all earlier documents together hold of
	// the document; 0 for a Unique, of which it was not asked. Segments that
	// MaxHolders kept documents hold already are no evidence, neither here nor
	// in Score.
	Seen float64
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
