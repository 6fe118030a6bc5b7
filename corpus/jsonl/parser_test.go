package jsonl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

var oneStdin = []input.Input{{Path: input.Stdin, Name: "f", Size: -1}}

// parserOf returns a parser of fields that can parse single lines.
func parserOf(tb testing.TB, fields Fields) *lineParser {
	tb.Helper()
	p, err := newParser(fields, "")
	if err != nil {
		tb.Fatal(err)
	}
	return &lineParser{parser: p}
}

type lineParser struct {
	*parser
	block corpus.Block
}

// line parses one line of the file f, which must not be blank.
func (p *lineParser) line(n int64, raw []byte) (rec *corpus.Document) {
	p.block = corpus.Block{File: "f", Data: raw, Spans: []corpus.Span{{End: len(raw), At: corpus.Place{Record: n}}}}
	p.parser.block = &p.block
	for rec := range p.block.Documents(&p.doc, p.parse) {
		return rec
	}
	panic("a block of one record has none")
}

// found returns a parsed line as the oracle represents it.
func found(rec *corpus.Document) oracleRecord {
	r := oracleRecord{File: "f", Line: rec.At.Record, Raw: string(rec.Raw), ID: string(rec.ID), Text: string(rec.Text)}
	if rec.Bad != nil {
		r.Reason = rec.Bad.Reason
	}
	return r
}

// wanted returns the oracle's record of a line.
func (p *lineParser) wanted(n int64, raw []byte) oracleRecord {
	id, text, reason := oracleParse(p.fields.Text, p.fields.ID, "f", n, raw)
	return oracleRecord{File: "f", Line: n, Raw: string(raw), ID: id, Text: text, Reason: reason}
}

// TestCases runs testdata/cases.txt, which holds lines of input with the expected results.
func TestCases(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "cases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	p := parserOf(t, Fields{Text: "text", ID: "meta.id"})
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("cases.txt:%d: no => in %q", i+1, line)
		}
		rec := p.line(int64(i+1), []byte(raw))
		got := fmt.Sprintf("%s %+q", rec.ID, rec.Text)
		if rec.Bad != nil {
			got = rec.Bad.Reason
		}
		if got != strings.ReplaceAll(want, "@", fmt.Sprintf("f:%d", i+1)) {
			t.Errorf("cases.txt:%d: %s\n got %s\nwant %s", i+1, raw, got, want)
		}
		same(t, found(rec), p.wanted(int64(i+1), []byte(raw)))
	}
}

func TestNesting(t *testing.T) {
	p := parserOf(t, Fields{})
	for _, depth := range []int{maxDepth - 2, maxDepth - 1, maxDepth, 100 * maxDepth} {
		raw := []byte(`{"text":"x","deep":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}")
		rec := p.line(1, raw)
		want := p.wanted(1, raw)
		if (rec.Bad != nil) != (want.Reason != "") || string(rec.ID) != want.ID || string(rec.Text) != want.Text {
			t.Errorf("depth %d: got %v, the oracle says %q", depth, rec.Bad, want.Reason)
		}
	}
}

func TestParserRefusesLongPath(t *testing.T) {
	if _, err := (Format{Fields: Fields{Text: strings.Repeat("a.", maxPath) + "a"}}).NewParser(""); err == nil {
		t.Error("no error")
	}
}

// TestRecordsKeepIDs checks that ids stay valid to the end of the chunk, as documented.
func TestRecordsKeepIDs(t *testing.T) {
	var data []byte
	for i := range 1000 {
		data = fmt.Appendf(data, `{"id":"\u0061%d","text":"x"}`+"\n"+`{"text":"y"}`+"\n", i)
	}
	p, c := parserOf(t, Fields{}), corpus.BlockOf("f", 1, data, Format{})
	for range 2 { // the second pass reuses buffers
		var ids [][]byte
		for rec := range p.Parse(c) {
			ids = append(ids, rec.ID)
		}
		for i, id := range ids {
			want := fmt.Sprintf("a%d", i/2)
			if i%2 == 1 {
				want = fmt.Sprintf("f:%d", i+1)
			}
			if string(id) != want {
				t.Fatalf("id %d became %q, want %q", i, id, want)
			}
		}
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	c := corpus.BlockOf("f", 1, bytes.Repeat(
		[]byte(`{"id":"\u0061","text":"some \"text\" 世界\n"}`+"\n"+`{"text":"no id"}`+"\n"), 500), Format{})
	p := parserOf(t, Fields{})
	records := 0
	allocs := testing.AllocsPerRun(20, func() {
		for range p.Parse(c) {
			records++
		}
	})
	if allocs > 1 {
		t.Errorf("%v allocations for a chunk of 1000 records", allocs)
	}
	if records != 21*1000 {
		t.Errorf("%d records", records)
	}
}

// TestHugeTexts reads lines too long for the kept buffer between short ones, and checks that no
// text overwrites another or its chunk.
func TestHugeTexts(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	texts := []string{"a", huge, "b\n", huge + "\n", "c", "", huge, "d"}
	var data []byte
	for _, text := range texts {
		data = fmt.Appendf(data, "{\"text\":%q}\n", text)
	}
	p, c := parserOf(t, Fields{}), corpus.BlockOf("f", 1, bytes.Clone(data), Format{})
	i := 0
	for rec := range p.Parse(c) {
		if rec.Bad != nil || string(rec.Text) != texts[i] {
			t.Errorf("text %d: %d bytes, %v", i, len(rec.Text), rec.Bad)
		}
		i++
	}
	if i != len(texts) || !bytes.Equal(c.Data, data) {
		t.Errorf("%d records, chunk untouched: %v", i, bytes.Equal(c.Data, data))
	}
}

// TestOneFieldForBoth checks that a text that is also the id takes memory only once.
func TestOneFieldForBoth(t *testing.T) {
	text := strings.Repeat("a line\n", 100)
	data := bytes.Repeat(fmt.Appendf(nil, "{\"text\":%q}\n", text), 20)
	p, n := parserOf(t, Fields{ID: "text"}), 0
	for rec := range p.Parse(corpus.BlockOf("", 1, data, Format{})) {
		if n++; string(rec.Text) != text || string(rec.ID) != text {
			t.Fatalf("record %d: %d bytes of text, %d of id, %v", n, len(rec.Text), len(rec.ID), rec.Bad)
		}
	}
	if n != 20 {
		t.Errorf("%d records", n)
	}
}

func TestParseStops(t *testing.T) {
	n := 0
	for range parserOf(t, Fields{}).Parse(corpus.BlockOf("", 1, []byte("{}\n{}\n{}\n"), Format{})) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d records after a break at 2", n)
	}
}

func TestParserIsOracle(t *testing.T) {
	parsers := []*lineParser{
		parserOf(t, Fields{}), parserOf(t, Fields{ID: "meta.id"}), parserOf(t, Fields{Text: "meta.id", ID: "meta"}),
		parserOf(t, Fields{Text: "text", ID: "text"}),
	}
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.OneOf(rapid.Custom(drawLine), rapid.Custom(drawObject)).Draw(rt, "line")
		p := rapid.SampledFrom(parsers).Draw(rt, "parser")
		same(t, found(p.line(3, raw)), p.wanted(3, raw))
	})
}

func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","text":"b"}`, `{"id":1e5,"text":"\ud83d\ude00\n世界 é","x":[true,null,{"a":-0.1}]}`,
		`{"meta":{"id":"x"},"meta.id":"y","text":"z"}`, "{\"text\":\"\xff\"}", `{"text":"\ud800"}`, `[1,2]`, "\r", `{"t\u0065xt":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	parsers := []*lineParser{parserOf(f, Fields{}), parserOf(f, Fields{ID: "meta.id"}), parserOf(f, Fields{ID: "text"})}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, p := range parsers {
			same(t, found(p.line(3, raw)), p.wanted(3, raw))
		}
	})
}

// TestEveryLineAnswered checks that each line of an input yields one record, in order, wherever
// chunks end, if every line is answered.
func TestEveryLineAnswered(t *testing.T) {
	text := "\n{\"text\":\"a\"}\n \t\r\n\nno\n{\"text\":\"b\"}\n" + strings.Repeat("x", 40) + "\n\n \n"
	want := []string{"blank", "text", "blank", "blank", "bad", "text", "bad", "blank", "blank"}
	for size := 1; size < len(text)+2; size++ {
		source := corpus.NewSource(oneStdin, Format{}, corpus.SourceConfig{BlockSize: size, MaxRecord: 30, Stdin: strings.NewReader(text)})
		parser, err := Format{}.NewParser("verdict")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var chunk corpus.Block
		for source.Next(t.Context(), &chunk) == nil {
			for rec := range parser.Parse(&chunk) {
				kind := "text"
				switch {
				case rec.Empty:
					kind = "blank"
				case rec.Bad != nil:
					kind = "bad"
				}
				got = append(got, kind)
				if int(rec.At.Record) != len(got) {
					t.Fatalf("chunks of %d: record %d has line %d", size, len(got), rec.At.Record)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("chunks of %d: %q, want %q", size, got, want)
		}
	}
}

// TestLongEscapedKey parses a key of megabytes of escapes, which cannot be a wanted field.
func TestLongEscapedKey(t *testing.T) {
	line := `{"` + strings.Repeat(`\u0061`, 1<<20) + `":1,"text":"a","t\u0065xt2":""}`
	p := parserOf(t, Fields{})
	if rec := p.line(1, []byte(line)); rec.Bad != nil || string(rec.Text) != "a" {
		t.Errorf("%v, %q", rec.Bad, rec.Text)
	}
	if cap(p.key) > 4096 {
		t.Errorf("a buffer of %d bytes", cap(p.key))
	}
	if _, err := annotated(nil, []byte(line), "text2", nil); err == nil {
		t.Error("the field text2 is not seen")
	}
}

// TestLongID refuses an id above 64 KiB, escaped or not.
func TestLongID(t *testing.T) {
	p := parserOf(t, Fields{})
	for _, unit := range []string{"i", `\u0069`, `\n`} {
		for more := range 2 {
			line := `{"text":"a","id":"` + strings.Repeat(unit, 64<<10+more) + `"}`
			rec := p.line(1, []byte(line))
			switch {
			case more == 0 && (rec.Bad != nil || len(rec.ID) != 64<<10):
				t.Errorf("%s: %v", unit, rec.Bad)
			case more == 1 && (rec.Bad == nil || rec.Bad.Reason != `its id is longer than 65536 bytes`):
				t.Errorf("%s: %v", unit, rec.Bad)
			}
		}
	}
}
