package nested_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/corpustest"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/nested"
)

func format(path string, values nested.Values) nested.Format {
	p, err := jsonl.ParsePath(path)
	if err != nil {
		panic(err)
	}
	return nested.Format{Format: jsonarray.Format{Fields: jsonl.Fields{Text: "t"}}, Path: p, Values: values}
}

func read(f corpus.Format, in io.Reader, cfg corpus.SourceConfig) (got []string, err error) {
	cfg.Stdin = in
	err = corpustest.Each(f, corpustest.Stdin, cfg, func(_ *corpus.Block, doc *corpus.Document) {
		if doc.Bad != nil {
			got = append(got, fmt.Sprintf("%v bad: %s", doc.At, doc.Bad.Reason))
		} else {
			got = append(got, fmt.Sprintf("%v %s %q %s", doc.At, doc.ID, doc.Text, doc.Raw))
		}
	})
	return got, err
}

// readAnyhow reads in blocks of several sizes, and as it comes byte by byte: what is found
// must be the same.
func readAnyhow(t interface{ Errorf(string, ...any) }, f corpus.Format, text string, cfg corpus.SourceConfig) string {
	first := ""
	for i, size := range []int{1 << 20, 1, 7} {
		for k, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			cfg.BlockSize = size
			got, err := read(f, in, cfg)
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

// member is a value of an object, by encoding/json, in its order and with its bytes.
type member struct {
	name  string
	value json.RawMessage
}

// members are the values of an object or, without names, of an array; nil where it is none.
func members(raw json.RawMessage) (all []member, array bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, _ := dec.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return nil, false
	}
	all = []member{}
	for dec.More() {
		var m member
		if open == json.Delim('{') {
			name, _ := dec.Token()
			m.name = name.(string)
		}
		if err := dec.Decode(&m.value); err != nil {
			panic(err)
		}
		all = append(all, m)
	}
	return all, open == json.Delim('[')
}

// lead is the rule: what a path leads to in a value, and whether it leads to its first "*".
func lead(raw json.RawMessage, path []string) (found []string, reached bool) {
	if len(path) == 0 {
		if string(raw) == "null" {
			return nil, false
		}
		return []string{string(raw)}, true
	}
	all, array := members(raw)
	if all == nil || array && path[0] != "*" {
		return nil, false
	}
	reached = path[0] == "*"
	for _, m := range all {
		if path[0] == "*" || m.name == path[0] {
			more, further := lead(m.value, path[1:])
			found, reached = append(found, more...), reached || further && !slices.Contains(path[:1], "*")
		}
	}
	return found, reached
}

// drawn draws a value that path may lead into.
func drawn(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case kind < 3 && depth > 0:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			m[rapid.SampledFrom([]string{"a", "b", "*", `\"}]`, "字"}).Draw(t, "name")] = drawn(t, depth-1)
		}
		return m
	case kind < 6 && depth > 0:
		var all []any
		for range rapid.IntRange(0, 3).Draw(t, "values") {
			all = append(all, drawn(t, depth-1))
		}
		return append([]any{}, all...)
	case kind == 6:
		return nil
	case kind == 7:
		return 1.5
	}
	return map[string]any{"t": rapid.SampledFrom([]string{"", "第一", `}"],\`, "long enough for two"}).Draw(t, "text")}
}

// TestNested holds what is found in drawn values, as lines, in an array and behind one
// another, against encoding/json.
func TestNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "字"}), 1, 4).Draw(t, "path")
		indent := rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent")
		var lines, stream, want []string
		for n := range rapid.IntRange(0, 5).Draw(t, "values") {
			v := drawn(t, 4)
			for _, name := range path[:rapid.IntRange(0, len(path)).Draw(t, "led")] {
				if name == "*" {
					v = []any{v, nil, 1}
				} else {
					v = map[string]any{"a": 1, "b": []any{}, name: v}
				}
			}
			line, err := json.Marshal(v)
			pretty, err2 := json.MarshalIndent(v, "", indent)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			lines, stream = append(lines, string(line)), append(stream, string(pretty))
			found, reached := lead(line, path)
			if !reached {
				want = append(want, fmt.Sprintf("%d:1 bad", n+1))
			}
			for k, raw := range found {
				want = append(want, fmt.Sprintf("%d:%d %s", n+1, k+1, raw))
			}
		}
		for _, c := range []struct {
			values nested.Values
			text   string
		}{
			{nested.Lines, strings.Join(lines, "\r\n")},
			{nested.Array, "[" + strings.Join(lines, " ,\n") + "]\n"},
			{nested.Stream, strings.Join(stream, "\n")},
		} {
			if c.values == nested.Stream && slices.ContainsFunc(lines, func(l string) bool { return l[0] != '{' && l[0] != '[' }) {
				continue // a number ends where something follows
			}
			var got []string
			cfg := corpus.SourceConfig{BlockSize: rapid.SampledFrom([]int{1, 9, 0}).Draw(t, "block"), Stdin: strings.NewReader(c.text)}
			err := corpustest.Each(format(strings.Join(path, "."), c.values), corpustest.Stdin, cfg, func(b *corpus.Block, doc *corpus.Document) {
				switch {
				case doc.Bad != nil && strings.HasPrefix(doc.Bad.Reason, "there is no"), doc.Bad != nil && strings.HasPrefix(doc.Bad.Reason, "it is no array"):
					got = append(got, fmt.Sprintf("%v bad", doc.At))
				default:
					var compact bytes.Buffer
					if err := json.Compact(&compact, doc.Raw); err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%v %s", doc.At, compact.String()))
				}
			})
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("%v of %q:\n%s\nwant\n%s\n%v", path, c.text, strings.Join(got, "\n"), strings.Join(want, "\n"), err)
			}
		}
	})
}

// TestOdd: what is no record is bad, with its place; what a path does not lead to behind its
// first "*" is passed over.
func TestOdd(t *testing.T) {
	for _, c := range []struct {
		path   string
		values nested.Values
		text   string
		want   []string
	}{
		{
			"d.*.m", nested.Lines,
			`{"d":[{"m":{"t":"a"}},{"x":1},{"m":null},{"m":{"t":"b","id":"n"}}]}` + "\n\n" + `{"ok":0}` + "\n" + `{"d":null}` + "\n" + `{"d":[]}` + "\n" + `{"d":{"k":{"m":7}}}` + "\nx\n" + `{"d":[{"m":{"t":"c"}}]}`,
			[]string{
				`1:1 f:1:1 "a" {"t":"a"}`, `1:2 n "b" {"t":"b","id":"n"}`, `3:1 bad: there is no array or object at "d"`, `4:1 bad: there is no array or object at "d"`,
				`6:1 bad: the record is not a JSON object`, `7:1 bad: invalid JSON at byte 1: no value begins like this`, `8:1 f:8:1 "c" {"t":"c"}`,
			},
		},
		{
			"d.m", nested.Lines, `{"d":{"m":{"t":"a"}},"d":{"\u006d":{"t":"b"}}}` + "\n" + `{"d":[{"m":{"t":"a"}}]}`,
			[]string{`1:1 f:1:1 "a" {"t":"a"}`, `1:2 f:1:2 "b" {"t":"b"}`, `2:1 bad: there is nothing at "d.m"`},
		},
		{"*", nested.Lines, `[{"t":"a"},{"t":1}]` + "\n7\n", []string{`1:1 f:1:1 "a" {"t":"a"}`, `1:2 bad: field "t" is a number, not a string`, `2:1 bad: it is no array or object`}},
		{"d.*", nested.Lines, `{"d":[{"t":"a"}]` + "\n" + `{"d":[{"t":"b"}]}`, []string{`1:1 bad: invalid JSON at byte 17: the record ends inside an object or array`, `2:1 f:2:1 "b" {"t":"b"}`}},
		{"d.*", nested.Lines, `{"d":[` + strings.Repeat(" ", 100) + "]}\n" + `{"d":[{"t":"b"}]}`, []string{`1:1 bad: the record is longer than the limit of 80 bytes`, `2:1 f:2:1 "b" {"t":"b"}`}},
		{"d.*", nested.Array, `[{"d":[{"t":"a"}]},{"d":[{"t":"b"},{"t":"\q"}]},{"d":[{"t":"c"}]} x`, []string{`1:1 f:1:1 "a" {"t":"a"}`, `2:1 bad: invalid JSON at byte 23: unknown escape in a string`, `3:1 f:3:1 "c" {"t":"c"}`, `4:1 bad: a comma or ] should stand behind a record`}},
		{"d.*", nested.Stream, "\xef\xbb\xbf{\"d\":\n[{\"t\":\"a\"}]}{\"d\":[{\"t\":\"b\"}]}\n]", []string{`1:1 f:1:1 "a" {"t":"a"}`, `2:1 f:2:1 "b" {"t":"b"}`, `3:1 bad: a record should stand here`}},
		{"d.*", nested.Stream, "{\"d\":\n[{\"t\":\"a\"}", []string{`1:1 bad: the file ends inside the record`}},
		{"d.*", nested.Lines, "\xef\xbb\xbf", nil},
		{"d.*", nested.Lines, "{\"d\":[{\"t\":\"\xff\"}]}", []string{`1:1 bad: invalid UTF-8 at byte 13`}},
	} {
		got := readAnyhow(t, format(c.path, c.values), c.text, corpus.SourceConfig{MaxRecord: 80})
		if got != strings.Join(c.want, "\n") {
			t.Errorf("%s of %s:\n%s\nwant\n%s", c.path, c.text, got, strings.Join(c.want, "\n"))
		}
	}
}

func TestRecognize(t *testing.T) {
	for head, want := range map[string]string{
		`{"d":1}` + "\n": "lines", "{\n": "stream lines", "\xef\xbb\xbf{ \"d\": [\n": "stream lines", "[\n{": "array", "[{}]\n": "array", "[{}]": "array", "[{\"a\":\"]\"},\n{}]\n[": "array",
		"[{}]\n[{": "lines", "\xef\xbb\xbf [{\"]\":[1,\"\\\"[\"]}, {}] \r\n\n [": "lines", "[{}] [{}]\n[{}]": "array",
		`{"a": "b`: "lines", "[[1]]": "", "": "", `{"a":"` + "\n": "lines",
	} {
		got := ""
		for values, name := range []string{nested.Stream: "stream", nested.Array: "array"} {
			if name != "" && format("d.*", nested.Values(values)).Recognize([]byte(head)) {
				got += name + " "
			}
		}
		if format("d.*", nested.Lines).Recognize([]byte(head)) {
			got += "lines"
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%q: %s, want %s", head, got, want)
		}
	}
}

// TestMarkAlone: how values stand is found out from a pipe too that brings a byte order mark
// first, and nothing with it.
func TestMarkAlone(t *testing.T) {
	for _, text := range []string{"[{\"d\":[{\"t\":\"a\"}]}\n]", "{\n\"d\":[{\"t\":\"a\"}]\n}", "{\"d\":[{\"t\":\"a\"}]}\n"} {
		in := io.MultiReader(strings.NewReader("\xef\xbb\xbf"), strings.NewReader(text))
		cfg := corpus.SourceConfig{Formats: []corpus.Format{format("d.*", nested.Stream), format("d.*", nested.Array)}}
		got, err := read(format("d.*", nested.Lines), in, cfg)
		if want := `1:1 f:1:1 "a" {"t":"a"}`; err != nil || strings.Join(got, "\n") != want {
			t.Errorf("%q: %q, %v, want %s", text, got, err, want)
		}
	}
}

// TestArraysOfAPipe: what a pipe is taken for does not depend on how much of it came at once.
func TestArraysOfAPipe(t *testing.T) {
	text := "[{\"t\":\"a\"}]\n[{\"t\":\"b\"}]\n"
	for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
		cfg := corpus.SourceConfig{Formats: []corpus.Format{format("*", nested.Stream), format("*", nested.Array), format("*", nested.Lines)}}
		got, err := read(format("*", nested.Lines), in, cfg)
		if len(got) != 2 || !strings.Contains(got[1], "read them with --format jsonl") || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestParsePath(t *testing.T) {
	for text, ok := range map[string]bool{"a": true, "*": true, "data.cards.*.mblog": true, "": false, "a..b": false, ".a": false, strings.Repeat("a.", 32) + "a": false} {
		if p, err := jsonl.ParsePath(text); (err == nil) != ok || ok && p.String() != text {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

// FuzzNested: no panic, places that ascend, and the same records however they come; of what
// is valid, those that the rule names.
func FuzzNested(f *testing.F) {
	f.Add(`{"d":[{"t":"a\"]"},{"t":"第"} , 7]}`+"\n"+`{"d":{"x":{"t":"b"}}}`, "d.*", uint8(0))
	f.Add("[\n{\"d\":{\"d\":[]}}\n]", "d.d.*", uint8(1))
	f.Fuzz(func(t *testing.T, text, path string, values uint8) {
		p, err := jsonl.ParsePath(path)
		if err != nil || len(text) > 1<<10 {
			return
		}
		kind := nested.Values(values % 3)
		text = []string{"{", "[", "{"}[kind] + text // else it may begin as what cannot be read at all
		got := readAnyhow(t, format(path, kind), text, corpus.SourceConfig{MaxRecord: 48})
		if whole := json.Valid([]byte(text)) && !strings.ContainsAny(text, "\r\n") && kind == nested.Lines && len(text) <= 48; whole {
			found, reached := lead(json.RawMessage(text), p)
			if n := strings.Count(got, "\n") + min(len(got), 1); n != max(len(found), 1) && (reached || n != 1) && !(reached && len(found) == 0 && n == 0) {
				t.Errorf("%q, %q: %d records, want %d\n%s", text, path, n, len(found), got)
			}
		}
	})
}
