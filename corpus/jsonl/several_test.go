package jsonl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
)

// TestSeveralFields compares the joined text and the places of its fields with encoding/json, for
// lines of one block, in any order of the fields.
func TestSeveralFields(t *testing.T) {
	p := parserOf(t, Fields{Text: "body,title,id"})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{``, `a`, `\n`, `\u00e9\"`, `世界`, `&nGt;`, strings.Repeat(`\\x`, 40)})
		var data, want strings.Builder
		for n := range rapid.IntRange(1, 6).Draw(t, "lines") {
			var members []string
			for _, name := range []string{"title", "body", "id"} {
				if rapid.IntRange(0, 3).Draw(t, "has") > 0 {
					members = append(members, fmt.Sprintf(`%q:"%s"`, name, text.Draw(t, name)))
				}
			}
			line := "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), ",") + "}"
			data.WriteString(line + "\n")
			var o map[string]string
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, name := range []string{"body", "title", "id"} {
				if o[name] != "" {
					texts = append(texts, o[name])
				}
			}
			id := o["id"]
			if id == "" {
				id = fmt.Sprintf("f:%d", n+1)
			}
			if len(o) == 0 {
				fmt.Fprintf(&want, "bad: field \"body,title,id\" is missing\n")
			} else {
				fmt.Fprintf(&want, "%q %q %q\n", id, strings.Join(texts, "\n"), texts)
			}
		}
		b := corpus.BlockOf("f", 1, []byte(data.String()), Format{})
		for range 2 {
			var docs []corpus.Document
			for doc := range p.Parse(b) {
				docs = append(docs, *doc)
			}
			if got := told(docs); got != want.String() {
				t.Fatalf("%s\n%s\nwant\n%s", data.String(), got, want.String())
			}
		}
	})
}

// told prints documents: their ids, their texts, and the parts that fields have.
func told(docs []corpus.Document) string {
	var s strings.Builder
	for _, doc := range docs {
		if doc.Bad != nil {
			fmt.Fprintf(&s, "bad: %s\n", doc.Bad.Reason)
			continue
		}
		parts := []string(nil)
		for _, f := range doc.Fields {
			parts = append(parts, string(doc.Text[f.Start:f.End]))
		}
		fmt.Fprintf(&s, "%q %q %q\n", doc.ID, doc.Text, parts)
	}
	return s.String()
}

// TestPageLongerThanItsField checks texts that no room was left for: entities become longer in a
// page, and the ids after them are decoded, too.
func TestPageLongerThanItsField(t *testing.T) {
	page := func() corpus.Text {
		return func(room func(int) []byte, body []byte, _ string) ([]byte, bool, error) {
			return append(room(3*len(body)), strings.Repeat(string(body), 3)...), false, nil
		}
	}
	p := parserOf(t, Fields{Text: "text,html", HTML: "html", Page: page})
	var data, want string
	for i := range 40 {
		data += fmt.Sprintf(`{"html":"\u4e16%d&&&&&&&&","text":"a\n","id":"\u0069%d"}`+"\n", i, i)
		h := strings.Repeat(fmt.Sprintf("世%d&&&&&&&&", i), 3)
		want += fmt.Sprintf("\"i%d\" %q %q\n", i, "a\n\n"+h, []string{"a\n", h})
	}
	b := corpus.BlockOf("f", 1, []byte(data), Format{})
	for range 2 {
		var docs []corpus.Document
		for doc := range p.Parse(b) {
			docs = append(docs, *doc)
		}
		if got := told(docs); got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	}
}

// TestSeveralFieldsRefused checks which lists of fields are refused, and which values.
func TestSeveralFieldsRefused(t *testing.T) {
	for _, names := range []string{"a,", "a,b,a", ",", "a" + strings.Repeat(",b.c", 2), strings.Repeat("x,", 16) + "y"} {
		if _, err := (Format{Fields: Fields{Text: names}}).NewParser(""); err == nil || !strings.Contains(err.Error(), "at most 16 different names") {
			t.Errorf("%q: %v", names, err)
		}
	}
	p := parserOf(t, Fields{Text: "a,b.c"})
	for line, want := range map[string]string{
		`{"a":"x","b":{"c":7}}`:          `field "b.c" is a number, not a string`,
		`{"a":null,"b":{}}`:              `field "a,b.c" is null`,
		`{"b":null}`:                     `field "a,b.c" is missing`,
		`{"a":"x","a":"y"}`:              `field "a" occurs twice`,
		`{"a":"x","b":{"c":"\ud800"}}`:   ``,
		`{"a":"x","b.c":"y","b":"none"}`: ``,
	} {
		rec, got := p.line(1, []byte(line)), ""
		if rec.Bad != nil {
			got = rec.Bad.Reason
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if _, err := (Format{Fields: Fields{Text: "a,b"}}).Cut(nil, []byte(`{"a":"x"}`), nil, false); err == nil {
		t.Error("a text of several fields was cut")
	}
}
