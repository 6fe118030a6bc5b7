package index

import (
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
)

// Policy sets how documents are judged, and how the index is maintained meanwhile. The zero value
// takes a checkpoint every 256 MiB, and grows a full filter if there is a table.
type Policy struct {
	Rules dedup.Rules
	// Now stamps kept documents; nil means time.Now.
	Now    func() time.Time
	OnFull OnFull
	// Confirm, if set, is asked before a document is removed.
	Confirm dedup.Confirmer
	// Passages, if set, finds the passages of kept documents.
	Passages dedup.PassageFinder
	// CheckpointBytes is the number of bytes that Ack counts between checkpoints; 0 means 256 MiB.
	// A full memory table causes another checkpoint.
	CheckpointBytes int64
	// CheckpointEvery, if positive, also makes Ack take a checkpoint after that time by Now.
	// Without Begin it is one second.
	CheckpointEvery time.Duration
	// Stream marks input that cannot be read again. Begin then marks the index, so that the
	// next run sees an unclean end. Without a table, a journal makes the filter's keys durable.
	Stream bool
	// ReplaceSameID makes a new version of a kept document, with the same id, replace it. An
	// unchanged version, or a copy of another document, replaces nothing. It excludes DecideAll.
	ReplaceSameID bool
	// Window, if positive, is the number of seconds for which documents count; see docs/design.md,
	// rule 12. With 0, the index keeps its window, if any.
	Window uint32
	// TellsTimes takes the time of a document from its field with tag 1. A document without the field
	// gets the latest time so far. Without TellsTimes, Now gives the times.
	TellsTimes bool
	// Flush is called before anything becomes durable. It hands on all answers so far: a remembered
	// document without an answer would be lost. It returns the owner's values, which the same
	// transaction stores. ended means that no document follows. Flush may be nil for an owner
	// without values whose caller has the answer on return.
	Flush func(ended bool) (values map[string][]byte, err error)
	// Warn, if set, is called once, when a full filter takes more keys.
	Warn func(FilterState)
}

// OnFull selects the reaction to a filter at its design load.
type OnFull uint8

const (
	// OnFullGrow rebuilds the filter twice as large from the table. Without one, see OnFullWarn.
	OnFullGrow OnFull = iota
	// OnFullStop returns ErrFull after a checkpoint.
	OnFullStop
	// OnFullWarn continues, with ever more false positives.
	OnFullWarn
)

const (
	// DefaultDocs is the default number of documents that a filter is sized for: 100 MiB. With a
	// table, a full filter grows.
	DefaultDocs = 1_000_000
	// MaxBatchName is the maximum length of a batch name in bytes.
	MaxBatchName = docmap.MaxBatchName

	defaultCheckpoint = 256 << 20
)
