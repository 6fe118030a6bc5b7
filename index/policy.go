package index

import (
	"errors"
	"time"

	"github.com/firstseen/firstseen/dedup"
)

// Policy says how documents are judged and how an index is kept while they are added.
// The zero value grows a full filter, where there is a table to grow it from, and
// takes a checkpoint when much has come.
type Policy struct {
	Rules dedup.Rules
	// Now stamps kept documents; nil means time.Now.
	Now    func() time.Time
	OnFull OnFull
	// Confirm, where there is one, is asked before a document is removed.
	Confirm dedup.Confirmer
	// CheckpointBytes told to Ack between two checkpoints, 0 means 256 MiB.
	// Another one is taken whenever the table's memory is full.
	CheckpointBytes int64
	// CheckpointEvery, if positive, has Ack take one also when so much time has
	// passed since the last, by Now. An index that is not begun with a policy has a
	// second.
	CheckpointEvery time.Duration
	// Stream: what is added cannot be had again. So Begin marks the index, which
	// then tells of an end that was none, and without a table a journal makes
	// durable what a filter learns.
	Stream bool
	// ReplaceSameID: a document with the id of a kept one takes its place, unless it is
	// the same or stands in another. Decide does that, and such documents are decided one
	// after the other.
	ReplaceSameID bool
	// Window, if positive, is how many seconds documents count: see docs/design.md, rule
	// 17. Else the index has the window that it was begun with, if any.
	Window uint32
	// TellsTimes: documents tell their times, as a field of TagTime in what is stored
	// with them, and one that does not has that of the latest. Else times are those of Now.
	TellsTimes bool
	// Flush is called before anything becomes durable. It hands on all answers
	// given so far, for a document that is remembered and was never answered is
	// lost, and returns the owner's values, to be stored in the same transaction.
	// ended says that no document will come. Nil: answers are given by return,
	// and there are no values.
	Flush func(ended bool) (values map[string][]byte, err error)
	// Warn is told, once, that the filter is full and goes on being filled; nil
	// for nobody.
	Warn func(FilterState)
}

// OnFull says what happens when the filter holds what it was designed for.
type OnFull uint8

const (
	// OnFullGrow rebuilds the filter twice as large from the side table; without
	// one it is OnFullWarn.
	OnFullGrow OnFull = iota
	// OnFullStop ends the work with ErrFull after a checkpoint.
	OnFullStop
	// OnFullWarn goes on, with ever more false positives.
	OnFullWarn
)

// ErrFull is returned where the filter is full and the policy is OnFullStop.
var ErrFull = errors.New("the filter holds as many segments as it was sized for")

const defaultCheckpoint = 256 << 20
