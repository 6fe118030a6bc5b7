package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/durable"
)

// keyFile holds the key of an index's fingerprints, 32 hexadecimal digits.
const keyFile = "key"

const keyBytes = 16

// keyChoice says whether fingerprints are to be keyed with a secret. An index
// that exists stays what it is.
type keyChoice uint8

const (
	keyByDefault  keyChoice = iota // a new index gets one
	keyReproduced                  // the default of runs that can be repeated byte for byte: it gets none
	keyDemanded                    // --key
	keyRenounced                   // --no-key
)

// planKey reads --key and --no-key.
func (f *dedupFlags) planKey(p *dedupPlan) error {
	switch {
	case f.keyed && f.unkeyed:
		return errors.New("--key and --no-key are opposites: give one")
	case f.keyed:
		p.keyed = keyDemanded
	case f.unkeyed:
		p.keyed = keyRenounced
	case os.Getenv(epochVariable) != "":
		p.keyed = keyReproduced
	}
	return nil
}

// forNew reports whether what is new gets a key.
func (c keyChoice) forNew() bool { return c == keyByDefault || c == keyDemanded }

// forIndex returns the key of the index in dir, nil if it has none. A new index
// gets one if it shall, before it has any other file; "" is an index for this
// run alone, whose key nobody has to know.
func (c keyChoice) forIndex(dir string) ([]byte, error) {
	if dir == "" {
		if c.forNew() {
			return drawKey(), nil
		}
		return nil, nil
	}
	key, err := readKey(dir)
	if err != nil || key != nil {
		if key != nil && c == keyRenounced {
			err = usageError{fmt.Errorf("index %s is keyed with a secret, so that its fingerprints compare with those of no other; leave out --no-key, or give another --index", dir)}
		}
		return key, err
	}
	for _, name := range []string{dedup.TableFile, dedup.FilterFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			if c == keyDemanded {
				err = usageError{fmt.Errorf("index %s was made without a key, and keeps its fingerprints; leave out --key, or give another --index", dir)}
			}
			return nil, err
		}
	}
	if !c.forNew() {
		return nil, nil
	}
	key = drawKey()
	return key, writeKey(dir, key)
}

func drawKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// readKey returns the key stored with an index, nil if there is none.
func readKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the index's key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s: not a key of %d hexadecimal digits; restore it from a backup, without it the index is useless", path, 2*keyBytes)
	}
	return key, nil
}

// writeKey stores the key of a new index, durably, for its owner's eyes alone.
func writeKey(dir string, key []byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making the index: %w", err)
	}
	return durable.Replace(filepath.Join(dir, keyFile), func(f *os.File) error {
		if err := f.Chmod(0o600); err != nil {
			return err
		}
		_, err := fmt.Fprintln(f, hex.EncodeToString(key))
		return err
	})
}
