//go:build unix

package docmap

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestFileCutShortUnderATable checks that an unreadable page, which is a memory fault, is damage.
func TestFileCutShortUnderATable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	table := mustOpen(t, path, Options{ReadOnly: true})
	if err := os.Truncate(path, 2*pageSize); err != nil {
		t.Fatal(err)
	}
	err := table.ask([]uint64{0, 1 << 62, 1 << 63, ^uint64(0)}, new(postings))
	want := regexp.MustCompile(`^looking keys up: PATH: table is damaged: byte \d+ cannot be read: the disk failed, or the file was cut short` + advice + `$`)
	if !errors.Is(err, ErrDamaged) || !want.MatchString(message(err, path)) {
		t.Fatal(message(err, path))
	}
}
