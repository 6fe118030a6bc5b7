package corpus

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
)

// stars is a format whose records end with two stars.
type stars struct {
	Lines
	LineCutter
}

func (stars) Name() string                     { return "stars" }
func (stars) Endings() []string                { return nil }
func (stars) NewParser(string) (Parser, error) { return nil, nil }
func (s stars) Cutter() Cutter                 { return s }
func (stars) Strip(b []byte) ([]byte, bool)    { return bytes.TrimRight(b, "*"), false }

func (stars) Cut(data []byte, most int) (end, records int) {
	for records < most {
		i := bytes.Index(data[end:], []byte("**"))
		if i < 0 {
			break
		}
		end, records = end+i+2, records+1
	}
	return end, records
}

func (stars) End(data []byte, from int) int {
	begin := max(0, from-1)
	if i := bytes.Index(data[begin:], []byte("**")); i >= 0 {
		return begin + i + 2
	}
	return -1
}

// TestLongEnd splits records around the limit, and their two-byte ends, anywhere between reads.
func TestLongEnd(t *testing.T) {
	const limit = 20
	for n := range 120 {
		data := "a**" + strings.Repeat("x", n) + "**b**c"
		for size := 1; size < 50; size++ {
			src := NewSource([]input.Input{{Path: input.Stdin, Name: "f", Size: -1}}, stars{}, SourceConfig{BlockSize: size, MaxRecord: limit, Stdin: strings.NewReader(data)})
			got, b := "", new(Block)
			for {
				err := src.Next(context.Background(), b)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if b.Reject == "" {
					got += string(b.Data)
				} else {
					got += "(bad)"
				}
				if b.First.Record < 1 || b.Records < 1 {
					t.Fatalf("%d records at %v", b.Records, b.First)
				}
			}
			want := data
			if n+2 > limit+1 { // one byte of the end is not counted
				want = "a**(bad)b**c"
			}
			if got != want {
				t.Fatalf("record of %d bytes, blocks of %d: %q, want %q", n, size, got, want)
			}
			if b.First != (Place{Record: 4}) {
				t.Fatalf("record of %d bytes, blocks of %d: the last is at %v", n, size, b.First)
			}
		}
	}
}
