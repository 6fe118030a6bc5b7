package filterlog

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/step"
)

// Options configure Open.
type Options struct {
	Scheme string // of the keys
	// Shape is the filter's size, and Default that of a new one if Shape is zero.
	Shape, Default bloomstore.Shape
	// UUID, if not zero, derives tokens from the content, so that equal documents give equal bytes.
	UUID [16]byte
	// Bound is the length of the journals, in bytes, at which the filter is saved. 0 means a
	// quarter of the filter, and at least 8 MiB.
	Bound int64
}

// A Store is an open filter without a table. It is for one goroutine. Its process locks the index.
type Store struct {
	Filter *bloomstore.Filter
	Left   *Left // of the last run, if its end was unclean

	dir    string
	opt    Options
	at     mark              // of the filter file
	chain  []chained         // the filter's journals
	state  map[string][]byte // the owner's values for the run
	values map[string][]byte // the owner's values for the filter, in any run

	stream
}

// Open opens the filter in dir with the keys of its journals, or makes one.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	s := &Store{dir: dir, opt: o}
	a, err := Find(dir)
	if err != nil {
		return nil, err
	}
	if !a.there && len(a.chain) == 0 {
		if s.Filter, err = bloomstore.New(cmp.Or(o.Shape, o.Default), o.Scheme); err != nil {
			return nil, err
		}
		s.at.Token = s.newToken(0)
		return s, nil
	}
	if o.Shape != (bloomstore.Shape{}) && o.Shape != a.Header.Shape {
		return nil, fmt.Errorf("index %s: its filter has %d bytes and cannot be resized without a side table; leave out --docs and --memory", dir, a.Header.Shape.Bytes())
	}
	if s.Filter, s.Left, err = a.load(ctx, dir, o.Scheme); err != nil {
		return nil, err
	}
	s.at, s.chain, s.values = a.at, a.chain, a.values
	if n := len(s.chain); n > 0 {
		s.state = s.chain[n-1].header.State
	}
	if err := s.tidy(a.Stale); err != nil {
		return nil, errors.Join(err, s.Filter.Close())
	}
	return s, nil
}

// tidy removes obsolete files.
func (s *Store) tidy(stale []string) error {
	for _, path := range stale {
		if err := durable.Remove(path); err != nil {
			return fmt.Errorf("removing a journal that is in the filter already: %w", err)
		}
	}
	if err := durable.RemoveLeft(s.path(newFilterFile)); err != nil {
		return fmt.Errorf("removing a filter that was not finished: %w", err)
	}
	return nil
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// Value returns the owner's last value of that name, nil for none.
func (s *Store) Value(name string) []byte {
	if v, ok := s.state[name]; ok {
		return v
	}
	return s.values[name]
}

// SetValues sets the owner's values that are in state; nil removes one.
func (s *Store) SetValues(state map[string][]byte) {
	if s.values == nil {
		s.values = map[string][]byte{}
	}
	maps.Copy(s.values, state)
	maps.DeleteFunc(s.values, func(_ string, v []byte) bool { return v == nil })
}

// stamp returns the stamp of a filter without a table: its mark and any values of the owner.
func (s *Store) stamp(m mark) []byte {
	b := append(binary.LittleEndian.AppendUint64([]byte{markLetter}, m.Generation), m.Token[:]...)
	if len(s.values) > 0 {
		values, err := json.Marshal(s.values)
		if err != nil {
			panic(err) // strings and bytes only
		}
		b = append(b, values...)
	}
	return b
}

// following returns the mark of the next filter or journal.
func (s *Store) following() mark {
	m := mark{Generation: s.at.Generation + 1}
	if n := len(s.chain); n > 0 {
		m.Generation = s.chain[n-1].header.Generation + 1
	}
	m.Token = s.newToken(m.Generation)
	return m
}

// newToken returns a random token or, with Options.UUID, one derived from the content.
func (s *Store) newToken(generation uint64) (t token) {
	if s.opt.UUID == [16]byte{} {
		_, _ = rand.Read(t[:]) // never fails
		return t
	}
	return contentToken(s.opt.UUID[:], generation, s.Filter.Ones(), s.Filter.Items())
}

// Save saves the filter and removes the journals.
func (s *Store) Save() error {
	if err := s.EndJournal(); err != nil {
		return err
	}
	m := s.following()
	if err := s.Filter.Save(context.Background(), s.path(FilterFile), s.stamp(m)); err != nil {
		return err
	}
	s.at = m
	if err := step.Done("the last filter is in place"); err != nil {
		return err
	}
	return s.dropLogs(0)
}
