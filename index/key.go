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

// KeyPolicy selects whether a new index gets a secret, and which existing ones Open refuses.
type KeyPolicy uint8

const (
	KeyNew      KeyPolicy = iota // a new index gets one
	KeyAsIs                      // a new index gets none
	KeyRequired                  // an index without a secret is ErrUnkeyed
	KeyRefused                   // an index with a secret is ErrKeyed
)

// ErrKeyed is returned by Open with KeyRefused for an index with a key.
var ErrKeyed = errors.New("it is keyed with a secret")

// ErrUnkeyed is returned by Open with KeyRequired for an index without a key.
var ErrUnkeyed = errors.New("it was made without a key")

// ErrBadKey is returned for a KeyFile without a key in it.
var ErrBadKey = errors.New("not a key")

// ReadKey returns the secret of the index in dir; nil if it has none.
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

// makeKey stores a secret, and draws one if key is nil. The caller holds the lock of the index: if two
// processes create it at once, one draws the key for both.
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
