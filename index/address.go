package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/internal/durable"
)

// addressFile has the address of the server that holds the index. It means something only while the
// lock is held: a killed server leaves it.
const addressFile = "server"

// Announce tells other processes of this machine the address of the server that has the index open.
// "" means that there is none to tell.
func (x *Index) Announce(address string) error {
	path := x.path(addressFile)
	if address == "" {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return durable.Replace(path, func(f *os.File) error {
		_, err := fmt.Fprintln(f, address)
		return err
	})
}

// ServerAddress returns the address of the server that holds the index in dir, "" if none tells it.
func ServerAddress(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, addressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	free, err := lock.TryRLock()
	if err = errors.Join(err, lock.Close()); free || err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}
