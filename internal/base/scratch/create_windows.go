package scratch

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func create(dir string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL | windows.FILE_FLAG_DELETE_ON_CLOSE
	return os.OpenFile(filepath.Join(dir, "firstseen-"+rand.Text()), flags, 0o600)
}
