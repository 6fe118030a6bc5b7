package jsonarray_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// read returns the records of an array as strings.
func read(in io.Reader, cfg corpus.SourceConfig) (got []string, err error) {
	cfg.Stdin = in
	err = corpustest.Each(jsonarray.Format{}, corpustest.Stdin, cfg, func(_ *corpus.Block, doc *corpus.Document) {
		if doc.Bad != nil {
			got = append(got, fmt.Sprintf("%v bad: %s %q", doc.At, doc.Bad.Reason, doc.Bad.Raw))
		} else {
			got = append(got, fmt.Sprintf("%v %s %q", doc.At, doc.ID, doc.Text))
		}
	})
	return got, err
}

// readAnyhow reads an array in blocks of several sizes, whole and by bytes. All must agree.
func readAnyhow(t interface{ Errorf(string, ...any) }, text string, cfg corpus.SourceConfig) string {
	first := ""
	for i, size := range []int{1 << 20, 1, 7} {
		for k, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			cfg.BlockSize = size
			got, err := read(in, cfg)
			joined := strings.Join(got, "\n")
			if i == 0 && k == 0 {
				first = joined
			}
			if err != nil || joined != first {
				t.Errorf("%q in blocks of %d, reader %d:\n%s\nand before\n%s\n%v", text, size, k, joined, first, err)
			}
		}
	}
	return first
}

// TestArray compares random arrays with encoding/json.
func TestArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type object struct {
			ID    string `json:"id"`
			Text  string `json:"text"`
			Other any    `json:"other"`
		}
		words := rapid.StringOf(rapid.SampledFrom([]rune("ab {}[],:\"\\\n\t字。")))
		var all []object
		var want []string
		for n := range rapid.IntRange(0, 6).Draw(t, "records") {
			o := object{fmt.Sprint("n", n), words.Draw(t, "text"), []any{map[string]any{"}": words.Draw(t, "other")}, 1}}
			all = append(all, o)
			want = append(want, fmt.Sprintf("%d %s %q", n+1, o.ID, o.Text))
		}
		data, err := json.MarshalIndent(all, rapid.SampledFrom([]string{"", " "}).Draw(t, "prefix"), rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		if all == nil {
			data = []byte("\xef\xbb\xbf \n[ ] ")
		}
		if got := readAnyhow(t, string(data), corpus.SourceConfig{}); got != strings.Join(want, "\n") {
			t.Fatalf("%s:\n%s\nwant\n%s", data, got, strings.Join(want, "\n"))
		}
	})
}

// TestOdd checks that invalid records are bad and have a number. Records before them are read, and
// those after them if their beginning can be found.
func TestOdd(t *testing.T) {
	long := strings.Repeat(`\"]},`, 12)
	for text, want := range map[string]string{
		`[{"text":"a"},7,"}",{"text":"b"}]`:              `1 f:1 "a"|2 bad: the record is not a JSON object "7"|3 bad: the record is not a JSON object "\"}\""|4 f:4 "b"`,
		`[{"text":"a"]},{"text":"b"}]`:                   `1 bad: invalid JSON at byte 12: expected ',' or '}' "{\"text\":\"a\"]"|2 bad: expected a comma or ] after a record`,
		`[{"text":[}},{"text":"b"}]`:                     `1 bad: invalid JSON at byte 10: no value begins like this`,
		`[{"text":"a"} {"text":"b"}]`:                    `1 f:1 "a"|2 bad: expected a comma or ] after a record`,
		`[{"text":"a"},]`:                                `1 f:1 "a"|2 bad: expected a record here`,
		`[{"text":"a"}] x`:                               `1 f:1 "a"|2 bad: something follows the array`,
		`[{"text":"a"},{"text":"b`:                       `1 f:1 "a"|2 bad: the file ends inside the record`,
		`[{"text":"a"}`:                                  `1 f:1 "a"|2 bad: the array ends without its ]`,
		"[{\"text\":\"a\"},\n":                           `1 f:1 "a"|2 bad: the array ends without its ]`,
		`[ `:                                             `1 bad: the array ends without its ]`,
		`{"text":"a"}`:                                   `1 bad: the file is not a JSON array`,
		`[{"text":"` + long + `"},{"text":"b"}]`:         `1 bad: the record is longer than the limit of 32 bytes "{\"text\":\"` + strings.ReplaceAll(strings.ReplaceAll(long[:24], `\`, `\\`), `"`, `\"`) + `"|2 f:2 "b"`,
		`[` + strings.Repeat("1", 40) + `,{"text":"b"}]`: `1 bad: the record is longer than the limit of 32 bytes "` + strings.Repeat("1", 33) + `"|2 f:2 "b"`,
		"": "", " \n": "",
	} {
		got := strings.ReplaceAll(readAnyhow(t, text, corpus.SourceConfig{MaxRecord: 32}), "\n", "|")
		if !strings.HasPrefix(got, want) || want == "" && got != "" || strings.Count(got, " bad: ") != strings.Count(want, " bad: ") {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// TestKeep checks that each record is written on one line with its content unchanged.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	w, err := output.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f := jsonarray.Format{}
	raw := []byte("{\r\n  \"text\": \"a\\n  b\",\n\t\"n\": [\n1\n,2 ]\n}")
	if err := f.Keep(w, raw); err != nil {
		t.Fatal(err)
	}
	slot := corpus.Slot{At: bytes.LastIndexByte(raw, '}'), Lead: []byte(`,"x":`)}
	if err := f.Annotate(w, raw, slot, []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	want := `{"text": "a\n  b","n": [1,2 ]}` + "\n" + `{"text": "a\n  b","n": [1,2 ],"x":1}` + "\n"
	if err != nil || string(data) != want {
		t.Errorf("%s, %v\nwant %s", data, err, want)
	}
}

func TestRecognize(t *testing.T) {
	for head, want := range map[string]bool{
		`[{"a":1}]`: true, "\xef\xbb\xbf\n [\r\n\t{": true, `[1,2]`: false, `[]`: true, "[\n\n]": true, `[[{`: false, `[`: false, `{"a":[{}]}`: false, "": false,
	} {
		if got := (jsonarray.Format{}).Recognize([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

func FuzzArray(f *testing.F) {
	f.Add(`[{"text":"a\"]"},{"id":1,"text":"第"} , 7]`)
	f.Add("[\n{\"text\":[{}]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		if !strings.HasPrefix(text, "[") { // otherwise it may begin like an unreadable format
			text = "[" + text
		}
		got := readAnyhow(t, text, corpus.SourceConfig{MaxRecord: 48})
		var all []json.RawMessage
		if json.Unmarshal([]byte(text), &all) == nil && got != "" && strings.Count(got, "\n")+1 != len(all) {
			t.Errorf("%q: %d records, and found\n%s", text, len(all), got)
		}
	})
}

// TestStream checks that a first line of a single brace identifies values over several lines,
// whatever arrives at once. They are read as by encoding/json; JSON lines stay lines.
func TestStream(t *testing.T) {
	formats := []corpus.Format{jsonarray.Format{Stream: true}, jsonl.Format{}, jsonarray.Format{}}
	read := func(f corpus.Format, in io.Reader, size int) (name string, got []string, err error) {
		cfg := corpus.SourceConfig{Stdin: in, BlockSize: size, Formats: formats}
		err = corpustest.Each(f, corpustest.Stdin, cfg, func(b *corpus.Block, doc *corpus.Document) {
			name = b.Format.Name()
			got = append(got, fmt.Sprintf("%v %s %q %v", doc.At, doc.ID, doc.Text, doc.Bad))
		})
		return name, got, err
	}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var want []string
		text.WriteString(rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "mark"))
		for i := range rapid.IntRange(1, 4).Draw(t, "values") {
			said := rapid.StringOf(rapid.SampledFrom([]rune("ab {}[]\"\\\n字"))).Draw(t, "text")
			value, err := json.MarshalIndent(map[string]any{"id": fmt.Sprint("n", i), "text": said, "more": []any{map[string]int{}, 1}}, "", rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent"))
			if err != nil {
				t.Fatal(err)
			}
			text.Write(value)
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", " ", ""}).Draw(t, "between"))
			want = append(want, fmt.Sprintf("%d n%d %q <nil>", i+1, i, said))
		}
		for _, size := range []int{1 << 20, 1, 7} {
			for _, in := range []io.Reader{strings.NewReader(text.String()), iotest.OneByteReader(strings.NewReader(text.String()))} {
				name, got, err := read(formats[0], in, size)
				if err != nil || name != "JSON values on several lines" || strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Fatalf("%s %q: %q, want %q, %v", name, text.String(), got, want, err)
				}
			}
		}
	})
	for text, want := range map[string]string{
		"{}\n{\n": "JSON lines", "{\"text\":\n": "JSON lines", " {\n}": "JSON lines", "{\n{\"text\":\"a\"}\n": "JSON lines", "{\n": "JSON lines", "{": "JSON lines", "{\r\n}": "JSON values on several lines", "[\n{\n}]": "JSON arrays",
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			if name, got, err := read(jsonl.Format{}, in, 1<<20); err != nil || name != want {
				t.Errorf("%q: %s %q, %v", text, name, got, err)
			}
		}
	}
}
