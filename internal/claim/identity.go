package claim

import "os"

// ID distinguishes a file from all others, under any name, and from every later file given its
// number. It is zero if the file system does not record when a file was made.
type ID struct {
	Device uint64 `json:"device"`
	Number uint64 `json:"number"`
	Born   int64  `json:"born"` // ns since 1970
}

// Identify returns the identity of an open file.
func Identify(f *os.File) ID { return identityOf(f) }

// ID returns the identity of the claimed file.
func (c *Claim) ID() ID { return Identify(c.file) }
