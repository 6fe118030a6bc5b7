package filterlog

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
)

// TestChainOfJournals checks that only a journal whose whole header continues the chain counts.
func TestChainOfJournals(t *testing.T) {
	shape := bloomstore.Shape{Bits: 512, Hashes: 3}
	chain := func() *Found {
		first := LogHeader{mark: mark{4, token{1}}, Scheme: "s", Shape: shape}
		second := first
		second.Generation, second.Token, second.Before = 5, token{2}, first.Token
		return &Found{
			Header: bloomstore.Header{Shape: shape, Scheme: "s"}, at: first.mark,
			chain: []chained{{header: first}, {header: second}},
		}
	}
	if err := chain().check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(h *LogHeader){
		"generation": func(h *LogHeader) { h.Generation++ },
		"scheme":     func(h *LogHeader) { h.Scheme = "t" },
		"bits":       func(h *LogHeader) { h.Bits *= 2 },
		"hashes":     func(h *LogHeader) { h.Hashes++ },
	} {
		for i := range 2 {
			a := chain()
			if change(&a.chain[i].header); a.check() == nil {
				t.Errorf("another %s in journal %d: it is taken", name, i)
			}
		}
	}
	a := chain()
	if a.chain[0].header.Token[0]++; a.check() == nil {
		t.Error("a journal of another filter is taken")
	}
	a = chain()
	if a.chain[1].header.Before[0]++; a.check() == nil {
		t.Error("a journal behind another one is taken")
	}
}

// TestValuesAreRead refuses anything but a JSON object after a mark.
func TestValuesAreRead(t *testing.T) {
	for stamp, ok := range map[string]bool{
		strings.Repeat("j", markBytes):                              true,
		strings.Repeat("j", markBytes) + `{"over":"b3Zlcg=="}`:      true,
		strings.Repeat("j", markBytes) + `{"over":"b3Zlcg=="} more`: false,
		strings.Repeat("j", markBytes) + `{"over":12345678}`:        false,
		strings.Repeat("j", markBytes) + "garbage":                  false,
		strings.Repeat("j", markBytes-1):                            false,
		strings.Repeat("k", markBytes) + `{"over":"b3Zlcg=="}`:      false,
	} {
		_, values, err := markOf(&bloomstore.Header{Stamp: []byte(stamp)})
		if (err == nil) != ok || ok && len(stamp) > markBytes && string(values["over"]) != "over" {
			t.Errorf("%.60q: %q, %v", stamp, values, err)
		}
	}
}

// TestNothingToLoad checks a folder without a filter, and a commit without a journal.
func TestNothingToLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(context.Background(), dir, "test"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of an empty folder: %v", err)
	}
	s, err := Open(context.Background(), dir, Options{Scheme: "test", Default: bloomstore.ForItems(10)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Filter.Close()
	if err := s.Commit(1, time.Unix(0, 0)); err == nil {
		t.Error("keys are durable without a journal")
	}
}
