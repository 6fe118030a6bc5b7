package index

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/internal/durable"
)

// KeyFile holds the secret of an index's fingerprints, 32 hexadecimal digits. An
// index without it is not keyed.
const KeyFile = "key"

const keyBytes = 16

// KeyPolicy says whether an index is to have a secret. One that exists keeps what
// it has, or is refused.
type KeyPolicy uint8

const (
	KeyNew      KeyPolicy = iota // a new index gets one
	KeyAsIs                      // a new index gets none
	KeyRequired                  // ErrUnkeyed where the index was made without
	KeyRefused                   // ErrKeyed where it has one
)

// ErrKeyed is returned by Open where an index without a key is asked for and
// the one in the directory has one.
var ErrKeyed = errors.New("it is keyed with a secret")

// ErrUnkeyed is returned by Open where a keyed index is asked for and the
// one in the directory was made without a key.
var ErrUnkeyed = errors.New("it was made without a key")

// ErrBadKey is returned where an index's KeyFile does not hold a key.
var ErrBadKey = errors.New("not a key")

// ReadKey returns the secret of the index in dir, nil where it has none.
func ReadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, KeyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the index's key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s: %w of %d hexadecimal digits; restore it from a backup, without it the index is useless", path, ErrBadKey, 2*keyBytes)
	}
	return key, nil
}

// DrawKey returns a random secret for a [feature.Scheme].
func DrawKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// makeKey stores a secret, and draws it where there is none. The caller holds the lock of the index:
// of two processes that make it at one instant, one draws the key of both.
func makeKey(dir string, key []byte) ([]byte, error) {
	if key == nil {
		key = DrawKey()
	}
	err := durable.Replace(filepath.Join(dir, KeyFile), func(f *os.File) error {
		// Before the secret is in it.
		if err := f.Chmod(0o600); err != nil {
			return err
		}
		_, err := fmt.Fprintln(f, hex.EncodeToString(key))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("storing the index's key: %w", err)
	}
	return key, nil
}
