package pipeline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// measured is a Framed format: each text follows its length in four bytes.
type measured struct{ corpus.Framed }

func (measured) Name() string             { return "measured texts" }
func (measured) Endings() []string        { return []string{".measured"} }
func (measured) Frames(int) corpus.Frames { return lengths{} }

type lengths struct{ corpus.FrameDefaults }

func (lengths) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	n := 4
	if len(data) >= 4 {
		n += int(binary.BigEndian.Uint32(data))
	}
	switch {
	case len(data) >= n && n > 4:
		return corpus.Frame{Take: n, Pass: n, Record: true}
	case end == corpus.GoesOn:
		return corpus.Frame{Need: n}
	}
	return corpus.Frame{Take: len(data), Record: true, Bad: "the file ends inside the text"}
}

func (measured) NewParser(string) (corpus.Parser, error) { return &measuredParser{}, nil }

type measuredParser struct{ doc corpus.Document }

func (p *measuredParser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.Documents(&p.doc, func() error {
		p.doc.Text = p.doc.Raw[4:]
		return nil
	})
}

func (measured) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw) }

// listed is a Random format. Its last byte counts the texts: lines, read from the end backwards.
type listed struct{ corpus.Random }

func (listed) Name() string      { return "listed texts" }
func (listed) Endings() []string { return []string{".listed"} }

func (listed) Open(file io.ReaderAt, size int64, limits corpus.Limits) (corpus.Rows, error) {
	if err := limits.Spend(size); err != nil {
		return nil, err
	}
	data := make([]byte, size)
	if _, err := file.ReadAt(data, 0); err != nil {
		return nil, err
	}
	return &listedRows{left: int(data[size-1]), data: bytes.TrimSuffix(data[:size-1], []byte("\n"))}, nil
}

type listedRows struct {
	left, row int
	data      []byte
}

func (r *listedRows) Next(dst []byte) ([]byte, corpus.Place, string, error) {
	if r.row++; r.row > r.left {
		return dst, corpus.Place{}, "", io.EOF
	}
	at := bytes.LastIndexByte(r.data, '\n') + 1
	dst = append(dst, r.data[at:]...)
	r.data = r.data[:max(at-1, 0)]
	return dst, corpus.Place{Record: int64(r.row)}, "", nil
}

func (r *listedRows) Read() int64 { return 0 }

func (listed) NewParser(string) (corpus.Parser, error) { return &listedParser{}, nil }

type listedParser struct{ doc corpus.Document }

func (p *listedParser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.Documents(&p.doc, func() error {
		p.doc.Text = p.doc.Raw
		return nil
	})
}

func (listed) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw, []byte("\n")) }

// TestEachKind stops runs over a format of each other kind after each document and continues them.
// The bytes are those of an undisturbed run.
func TestEachKind(t *testing.T) {
	t.Parallel()
	var lengths, list []byte
	for n := range 12 {
		text := fmt.Appendf(nil, "%s", indextest.Sentences(n%8))
		lengths = append(binary.BigEndian.AppendUint32(lengths, uint32(len(text))), text...)
		list = append(append(list, text...), '\n')
	}
	for _, c := range []struct {
		format corpus.Format
		data   []byte
		bad    bool
	}{
		{measured{}, lengths, false},
		{measured{}, append(lengths, 0, 0, 1, 0, 'x'), true},
		{listed{}, append(list, 12), false},
	} {
		path := filepath.Join(t.TempDir(), "in"+c.format.Endings()[0])
		indextest.Must(t, os.WriteFile(path, c.data, 0o600))
		inputs, _, err := input.Expand([]string{path}, c.format.Endings())
		indextest.Must(t, err)
		whole := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: c.format}
		indextest.Must(t, whole.run(1<<30))
		want := whole.outputs()
		if got := bytes.Count([]byte(want), []byte(`"verdict":"duplicate"`)); got != 4 {
			t.Errorf("%s: %d duplicates in\n%s", c.format.Name(), got, want)
		}
		if got := bytes.Contains([]byte(want), []byte(`"reason":"the file ends inside the text"`)); got != c.bad {
			t.Errorf("%s: cut off %v, reported %v in\n%s", c.format.Name(), c.bad, got, want)
		}
		for n := range 12 {
			f := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: c.format}
			if err := f.run(n); !errors.Is(err, errStop) {
				t.Fatalf("%s stopped after %d: %v", c.format.Name(), n, err)
			}
			indextest.Must(t, f.run(1<<30))
			if got := f.outputs(); got != want {
				t.Errorf("%s stopped after %d documents:\n%s\nwant\n%s", c.format.Name(), n, got, want)
			}
		}
	}
}
