package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
)

// recordSums returns the sum of AddRecord after each line of data, as a run computes it.
func recordSums(t *testing.T, data []byte, cfg SourceConfig) []uint64 {
	t.Helper()
	cfg.Stdin = bytes.NewReader(data)
	source, parser, sums := NewSource(oneStdin, jsonl.Format{}, cfg), newParser(t, jsonl.Fields{}), []uint64{0}
	for {
		var c Block
		if err := source.Next(context.Background(), &c); err == io.EOF {
			return sums
		} else if err != nil {
			t.Fatal(err)
		}
		for rec := range parser.Parse(&c) {
			for int64(len(sums)) < rec.At.Record {
				sums = append(sums, sums[len(sums)-1]) // a line of white space
			}
			sums = append(sums, output.AddRecord(sums[len(sums)-1], output.RecordSum(rec.Raw)))
		}
	}
}

// TestSkipSum resumes after each line with the sum of the lines before it: in an unchanged input,
// and with one byte changed at each place.
func TestSkipSum(t *testing.T) {
	data := []byte(`{"id":1,"text":"one"}` + "\n\n  \n" + `{"id":2,"text":"two"}` + "\r\n" + `{"bad` + "\n" +
		`{"id":3,"text":"a line that is longer than what is allowed in a line"}` + "\n" + `{"id":4,"text":"four"}`)
	long, longEnd := bytes.Index(data, []byte(`{"id":3`)), bytes.Index(data, []byte(`{"id":4`))
	for _, chunk := range []int{0, 1, 30} {
		cfg := SourceConfig{BlockSize: chunk, MaxRecord: 60}
		sums := recordSums(t, data, cfg)
		if len(sums) != 8 {
			t.Fatalf("%d sums", len(sums))
		}
		for line, sum := range sums {
			cfg.SkipTo, cfg.SkipSum = Place{Record: int64(line) + 1}, sum
			read := 0
			for range line {
				read += bytes.IndexByte(append(data[read:], '\n'), '\n') + 1
			}
			for at := -1; at < len(data); at++ {
				changed := bytes.Clone(data)
				if at >= 0 {
					if changed[at] == '\n' || changed[at] == ' ' {
						continue // would change the lines, or only white space
					}
					if at > long+cfg.MaxRecord && at < longEnd {
						continue // the rest of an overlong line is not in the sum
					}
					changed[at] ^= 1
				}
				cfg.Stdin = bytes.NewReader(changed)
				got, err := readAll(t, oneStdin, cfg, jsonl.Fields{})
				want := sum != 0 && at >= 0 && at < read
				if errors.Is(err, ErrChanged) != want || err != nil && !want {
					t.Fatalf("chunks of %d, line %d, byte %d changed: %v", chunk, line, at, err)
				}
				if want && len(got) > 0 {
					t.Fatalf("chunks of %d, line %d, byte %d changed: %d records all the same", chunk, line, at, len(got))
				}
			}
		}
		// The end is missing, or two lines are swapped.
		cfg.SkipTo, cfg.SkipSum = Place{Record: 8}, sums[7]
		lines := bytes.SplitAfter(data, Newline)
		lines[0], lines[3] = lines[3], lines[0]
		for what, other := range map[string][]byte{"cut": data[:30], "empty": nil, "another order": bytes.Join(lines, nil)} {
			cfg.Stdin = bytes.NewReader(other)
			if _, err := readAll(t, oneStdin, cfg, jsonl.Fields{}); !errors.Is(err, ErrChanged) {
				t.Errorf("chunks of %d, %s: %v", chunk, what, err)
			}
		}
	}
}

// TestFingerprint checks that the fingerprint covers the size and the first and last 64 KiB.
func TestFingerprint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	print := func(data []byte) uint64 {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := input.Fingerprint(input.Input{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	for _, size := range []int{1, 5, TailSize, TailSize + 1, 2*TailSize - 1, 2 * TailSize, 3*TailSize + 7} {
		data := bytes.Repeat([]byte("x"), size)
		want := print(data)
		if print(data) != want {
			t.Fatalf("size %d: not the same twice", size)
		}
		if print(data[:size-1]) == want {
			t.Errorf("size %d: one byte less makes no difference", size)
		}
		for _, at := range []int{0, 1, TailSize - 1, TailSize, size - TailSize, size - 2, size - 1} {
			if at < 0 || at >= size || at >= TailSize && at < size-TailSize {
				continue
			}
			data[at] = 'y'
			if print(data) == want {
				t.Errorf("size %d: byte %d makes no difference", size, at)
			}
			data[at] = 'x'
		}
	}
	if _, err := input.Fingerprint(input.Input{Path: path + "none"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
