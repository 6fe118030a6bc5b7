package corpus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func newParser(tb testing.TB, fields Fields) *Parser {
	tb.Helper()
	p, err := NewParser(fields)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// sameAsOracle fails unless a record is what the oracle says.
func sameAsOracle(tb testing.TB, rec *Record, want oracleRecord) {
	tb.Helper()
	got := oracleRecord{rec.File, rec.Line, string(rec.Raw), string(rec.ID), string(rec.Text), ""}
	if rec.Err != nil {
		got.Reason = rec.Err.Reason
		if want.Reason != "" && strings.Contains(got.Reason, want.Reason) {
			want.Reason = got.Reason
		}
		// A line may be bad in both ways; either reason is true.
		if want.Reason == "invalid JSON" && strings.HasPrefix(got.Reason, "invalid UTF-8") ||
			want.Reason == "invalid UTF-8" && strings.HasPrefix(got.Reason, "invalid JSON") {
			want.Reason = got.Reason
		}
	}
	if got != want {
		tb.Fatalf("line %q\n got %+v\nwant %+v", rec.Raw, got, want)
	}
}

// TestCases runs testdata/cases.txt: a line of input, then what is expected.
func TestCases(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "cases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	p := newParser(t, Fields{Text: "text", ID: "meta.id"})
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("cases.txt:%d: no => in %q", i+1, line)
		}
		rec := p.ParseLine("f", int64(i+1), []byte(raw))
		got := fmt.Sprintf("%s %+q", rec.ID, rec.Text)
		if rec.Err != nil {
			got = rec.Err.Reason
		}
		if got != strings.ReplaceAll(want, "@", fmt.Sprintf("f:%d", i+1)) {
			t.Errorf("cases.txt:%d: %s\n got %s\nwant %s", i+1, raw, got, want)
		}
		id, text, reason := oracleParse(p.fields, "f", int64(i+1), []byte(raw))
		sameAsOracle(t, rec, oracleRecord{"f", int64(i + 1), raw, id, text, reason})
	}
}

func TestNesting(t *testing.T) {
	p := newParser(t, Fields{})
	for _, depth := range []int{maxDepth - 2, maxDepth - 1, maxDepth, 100 * maxDepth} {
		raw := []byte(`{"text":"x","deep":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}")
		rec := p.ParseLine("f", 1, raw)
		id, text, reason := oracleParse(p.fields, "f", 1, raw)
		if (rec.Err != nil) != (reason != "") || string(rec.ID) != id || string(rec.Text) != text {
			t.Errorf("depth %d: got %v, the oracle says %q", depth, rec.Err, reason)
		}
	}
}

func TestParserRefusesLongPath(t *testing.T) {
	if _, err := NewParser(Fields{Text: strings.Repeat("a.", maxPath) + "a"}); err == nil {
		t.Error("no error")
	}
}

// TestRecordsKeepIDs holds on to ids and raw lines to the end of the chunk, as
// documented.
func TestRecordsKeepIDs(t *testing.T) {
	var data []byte
	for i := range 1000 {
		data = fmt.Appendf(data, `{"id":"\u0061%d","text":"x"}`+"\n"+`{"text":"y"}`+"\n", i)
	}
	p, c := newParser(t, Fields{}), &Chunk{File: "f", Line: 1, Data: data}
	for range 2 { // the second time over buffers in use
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
	c := &Chunk{File: "f", Line: 1, Data: bytes.Repeat(
		[]byte(`{"id":"\u0061","text":"some \"text\" 世界\n"}`+"\n"+`{"text":"no id"}`+"\n"), 500)}
	p := newParser(t, Fields{})
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

// TestHugeTexts reads lines too long for the kept buffer between short ones,
// and looks whether any touches another or its chunk.
func TestHugeTexts(t *testing.T) {
	huge := strings.Repeat("x", keepText)
	texts := []string{"a", huge, "b\n", huge + "\n", "c", "", huge, "d"}
	var data []byte
	for _, text := range texts {
		data = append(appendString(append(data, `{"text":`...), []byte(text)), "}\n"...)
	}
	p, c := newParser(t, Fields{}), &Chunk{File: "f", Line: 1, Data: bytes.Clone(data)}
	i := 0
	for rec := range p.Parse(c) {
		if rec.Err != nil || string(rec.Text) != texts[i] {
			t.Errorf("text %d: %d bytes, %v", i, len(rec.Text), rec.Err)
		}
		i++
	}
	if i != len(texts) || !bytes.Equal(c.Data, data) {
		t.Errorf("%d records, chunk untouched: %v", i, bytes.Equal(c.Data, data))
	}
}

func TestParseStops(t *testing.T) {
	n := 0
	for range newParser(t, Fields{}).Parse(&Chunk{Data: []byte("{}\n{}\n{}\n")}) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d records after a break at 2", n)
	}
}

// genLine draws lines that are JSON, nearly JSON, or nothing of the kind.
func genLine(t *rapid.T) []byte {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		`{"text":"`, `{"id":"`, `"text"`, `"id"`, `"meta"`, `"meta.id"`, `{`, `}`, `[`, `]`, `:`, `,`, `"`, ` `, "\t", "\r",
		`\`, `\"`, `\\`, `\n`, `\u0041`, `\ud83d`, `\ude00`, `\u00`, `\x`, "世", "é", "😀", "\xff", "\xe4\xb8", "\x00", "\x7f",
		"\xed\xa0\x80", "\xe0\x80\x80", "null", "true", "1", "-", "0", "1.5e+3", "01", "abcdefgh", `{"text":"a","id":7}`,
		`{"meta":{"id":"m"},"text":"b"}`,
	}), 0, 20).Draw(t, "pieces")
	return []byte(strings.Join(pieces, ""))
}

// genObject draws valid objects with the wanted names in many places.
func genObject(t *rapid.T) []byte {
	name := rapid.SampledFrom([]string{`"text"`, `"id"`, `"meta"`, `"meta.id"`, `"t\u0065xt"`, `"x"`})
	leaf := rapid.SampledFrom([]string{`"a"`, `""`, `"\ud800x"`, `"世\n界"`, `7`, `-0.5E1`, `null`, `true`, `[]`, `[1,{"text":"z"}]`, `{}`})
	var object func(depth int) string
	object = func(depth int) string {
		var members []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			v := leaf.Draw(t, "leaf")
			if depth < 3 && rapid.IntRange(0, 2).Draw(t, "nest") == 0 {
				v = object(depth + 1)
			}
			members = append(members, name.Draw(t, "name")+": "+v)
		}
		return "{" + strings.Join(members, " ,") + "}"
	}
	return []byte(object(0))
}

func TestParserIsOracle(t *testing.T) {
	parsers := []*Parser{
		newParser(t, Fields{}), newParser(t, Fields{ID: "meta.id"}), newParser(t, Fields{Text: "meta.id", ID: "meta"}),
	}
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.OneOf(rapid.Custom(genLine), rapid.Custom(genObject)).Draw(rt, "line")
		p := rapid.SampledFrom(parsers).Draw(rt, "parser")
		id, text, reason := oracleParse(p.fields, "f", 3, raw)
		sameAsOracle(t, p.ParseLine("f", 3, raw), oracleRecord{"f", 3, string(raw), id, text, reason})
	})
}

func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","text":"b"}`, `{"id":1e5,"text":"\ud83d\ude00\n世界 é","x":[true,null,{"a":-0.1}]}`,
		`{"meta":{"id":"x"},"meta.id":"y","text":"z"}`, "{\"text\":\"\xff\"}", `{"text":"\ud800"}`, `[1,2]`, "\r", `{"t\u0065xt":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	parsers := []*Parser{newParser(f, Fields{}), newParser(f, Fields{ID: "meta.id"})}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, p := range parsers {
			id, text, reason := oracleParse(p.fields, "f", 3, raw)
			sameAsOracle(t, p.ParseLine("f", 3, raw), oracleRecord{"f", 3, string(raw), id, text, reason})
		}
	})
}

// TestKeepBlank: with KeepBlank every line of an input is one record, in order,
// wherever chunks end and whatever the line is.
func TestKeepBlank(t *testing.T) {
	text := "\n{\"text\":\"a\"}\n \t\r\n\nno\n{\"text\":\"b\"}\n" + strings.Repeat("x", 40) + "\n\n \n"
	want := []string{"blank", "text", "blank", "blank", "bad", "text", "bad", "blank", "blank"}
	for size := 1; size < len(text)+2; size++ {
		source := NewSource(oneStdin, SourceConfig{ChunkSize: size, MaxLine: 30, Stdin: strings.NewReader(text)})
		parser, err := NewParser(Fields{})
		if err != nil {
			t.Fatal(err)
		}
		parser.KeepBlank = true
		var got []string
		var chunk Chunk
		for source.Next(t.Context(), &chunk) == nil {
			for rec := range parser.Parse(&chunk) {
				kind := "text"
				switch {
				case rec.Blank:
					kind = "blank"
				case rec.Err != nil:
					kind = "bad"
				}
				got = append(got, kind)
				if int(rec.Line) != len(got) {
					t.Fatalf("chunks of %d: record %d has line %d", size, len(got), rec.Line)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("chunks of %d: %q, want %q", size, got, want)
		}
	}
}
