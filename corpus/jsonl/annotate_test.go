package jsonl

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
)

// annotated appends raw to dst, with one more field in its object.
func annotated(dst, raw []byte, field string, value []byte) ([]byte, error) {
	p, err := newParser(Fields{}, field)
	if err != nil {
		return dst, err
	}
	p.block = &corpus.Block{Data: raw}
	if err := p.scan(raw); err != nil {
		return dst, err
	}
	slot, err := p.slot(raw)
	if err != nil {
		return dst, err
	}
	dst = append(append(dst, raw[:slot.At]...), slot.Lead...)
	return append(append(dst, value...), raw[slot.At:]...), nil
}

func TestAnnotate(t *testing.T) {
	for _, test := range []struct{ line, want string }{ // an empty want is an error
		{`{"a":1}`, `{"a":1,"firstseen":1}`},
		{" {\"a\" : {} }\t\r", " {\"a\" : {} ,\"firstseen\":1}\t\r"},
		{`{"a":{"firstseen":2}}`, `{"a":{"firstseen":2},"firstseen":1}`},
		{`{"firstseen":2}`, ``},
		{`{"first\u0073een":2}`, ``},
		{`[1]`, ``},
		{`{"a":1`, ``},
		{``, ``},
	} {
		got, err := annotated([]byte("kept"), []byte(test.line), "firstseen", []byte("1"))
		if test.want == "" {
			if err == nil || string(got) != "kept" {
				t.Errorf("%s: %q and error %v", test.line, got, err)
			}
			continue
		}
		if err != nil || string(got) != "kept"+test.want {
			t.Errorf("%s: %s, %v", test.line, got, err)
		}
	}
}

// checkAnnotate compares with encoding/json, and checks that removing the field restores the line.
func checkAnnotate(t *testing.T, raw []byte) {
	const value = `{"verdict":"unique"}`
	var object map[string]json.RawMessage
	isObject := json.Unmarshal(raw, &object) == nil && object != nil && utf8.Valid(raw)
	if isObject && len(object) == 0 {
		return // no document
	}
	_, taken := object["firstseen"]
	got, err := annotated(nil, raw, "firstseen", []byte(value))
	if (err == nil) != (isObject && !taken) {
		t.Fatalf("%q: error %v, object %v, field taken %v", raw, err, isObject, taken)
	}
	if err != nil {
		return
	}
	if err := json.Unmarshal(got, &object); err != nil || string(object["firstseen"]) != value {
		t.Fatalf("%q: %q, %v", raw, got, err)
	}
	field := []byte(`"firstseen":` + value)
	i := bytes.LastIndex(got, field)
	if before := bytes.TrimSuffix(got[:i], []byte(",")); !bytes.Equal(append(before, got[i+len(field):]...), raw) {
		t.Fatalf("%q: other bytes were touched: %q", raw, got)
	}
}

func TestAnnotateDrawn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkAnnotate(t, rapid.OneOf(rapid.Custom(drawLine), rapid.Custom(drawObject)).Draw(rt, "line"))
	})
}

func FuzzAnnotate(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"b":null}]}` + "\r", `{"firstseen":1}`, `{"\u0066irstseen":1}`, `7`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkAnnotate(t, raw) })
}
