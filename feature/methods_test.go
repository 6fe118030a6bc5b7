package feature

import (
	"strings"
	"testing"
)

func TestSegmentNames(t *testing.T) {
	key := []byte("0123456789abcdef")
	for _, c := range []struct {
		scheme Scheme
		want   string
	}{
		{Scheme{}, "fs4-u15b-xxh3-n50-w10"},
		{Scheme{Segments: 50, MinWidth: 10}, "fs4-u15b-xxh3-n50-w10"},
		{Scheme{Segments: 20, MinWidth: 16}, "fs4-u15b-xxh3-n20-w16"},
		{Scheme{Key: key}, "fs4-u15b-siphash+highway(ac9c773a)-n50-w10"},
	} {
		if got := c.scheme.Name(); got != c.want {
			t.Errorf("%+v: name %q, want %q", c.scheme, got, c.want)
		}
	}
	other := Scheme{Key: []byte("0123456789abcdeg")}
	if other.Name() == (Scheme{Key: key}).Name() {
		t.Error("two keys have one name")
	}
}

func TestSchemeValidate(t *testing.T) {
	for _, c := range []struct {
		scheme Scheme
		want   string // part of the message; empty: valid
	}{
		{Scheme{}, ""},
		{Scheme{Segments: MaxSegments, MinWidth: MaxMinWidth, Key: make([]byte, 16)}, ""},
		{Scheme{Segments: -1}, "-1 segments"},
		{Scheme{Segments: MaxSegments + 1}, "segments"},
		{Scheme{MinWidth: MaxMinWidth + 1}, "minimum width"},
		{Scheme{MinWidth: -3}, "minimum width -3"},
		{Scheme{Key: []byte("short")}, "5 bytes"},
		{Scheme{Key: []byte{}}, "0 bytes"},
	} {
		_, err := NewExtractor(c.scheme)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c.scheme, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: error %v, want one with %q", c.scheme, err, c.want)
		}
	}
}

func TestNamed(t *testing.T) {
	key := []byte("0123456789abcdef")
	for _, want := range []Scheme{
		{},
		{Segments: 3},
		{Segments: 7, Key: key},
		{MinWidth: 64, Key: key},
		{Passages: 50},
		{Key: key, Passages: 30},
	} {
		got, ok := Named(want.Name(), want.Key)
		if !ok || got.Name() != want.Name() || got.Features() != want.Features() {
			t.Errorf("%s: %+v, %v", want.Name(), got, ok)
		}
	}
	if got := (Scheme{Passages: 50}).Name(); got != "fs4-u15b-xxh3-n50-w10-p50" {
		t.Error(got)
	}
	for _, name := range []string{
		"", "fs1-u15b-xxh3-n50-w10", "fs4-u15b-xxh3-n50",
		"fs2-", "fs4-u15b-xxh3-n0-w10", "fs2-u14-xxh3-n50-w10", "fs4-u15b-xxh3-n50-w10x", Scheme{Key: key}.Name(),
		"fs4-u15b-xxh3-n50-w10-p0", "fs4-u15b-xxh3-n50-w10-p13", "-n-w", "-i-", "exact1-u15b", "fs4-u15b-xxh3-w10-n50", "fs3-u15b-xxh3-n50-w10",
	} {
		if got, ok := Named(name, nil); ok {
			t.Errorf("%q is %+v", name, got)
		}
	}
}
