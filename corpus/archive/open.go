package archive

import (
	"io"
)

// Open returns a reader of the member's content from its beginning, given the archive, or the spool
// if the member is Spooled. At the end of a zip member, a different length or checksum is an error.
func (m *Member) Open(archive io.ReaderAt) io.Reader {
	stored := m.Stored(archive)
	if m.Checked() {
		return newChecked(m, stored)
	}
	return stored
}

// Stored is the bytes of a member as they are stored; they are its content if it is Plain.
func (m *Member) Stored(archive io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(archive, m.at, m.stored)
}

// Plain reports whether the content is stored as it is, without a compression.
func (m *Member) Plain() bool { return m.how < zipDeflated }

// Checked reports whether there is a checksum of the content.
func (m *Member) Checked() bool { return m.how >= zipStored }

// Spooled reports whether the content is in the spool.
func (m *Member) Spooled() bool { return m.how == spooled }

// At returns the offset of its stored bytes, in the archive or in the spool.
func (m *Member) At() int64 { return m.at }
