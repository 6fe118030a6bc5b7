package index

import (
	"errors"

	"github.com/firstseen/firstseen/docmap"
)

// Errors that a program may react to. The messages about another scheme are in scheme.go.
var (
	// ErrLocked is returned by Open when another process has the index open.
	ErrLocked = errors.New("another process is using this index")
	// ErrFull is returned for a full filter under OnFullStop.
	ErrFull = errors.New("the filter holds as many segments as it was sized for")
	// ErrNoBatch is returned for an unknown batch.
	ErrNoBatch = docmap.ErrNoBatch
	// ErrServed is returned for an index with journals of a server. Only they hold the documents
	// after the last checkpoint.
	ErrServed = errors.New("a server is using the index, or was killed")
	// ErrFollowed is returned for an index whose documents come only from a log.
	ErrFollowed = errors.New("the index follows a log, and a change outside the log would make it differ from the other followers")
	// ErrKeyed is returned by Open with KeyRefused for an index with a key.
	ErrKeyed = errors.New("it is keyed with a secret")
	// ErrUnkeyed is returned by Open with KeyRequired for an index without a key.
	ErrUnkeyed = errors.New("it was made without a key")
	// ErrBadKey is returned for a KeyFile without a key in it.
	ErrBadKey = errors.New("not a key")
)
