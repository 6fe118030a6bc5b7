package visible

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// hostile draws terminal controls, direction marks, unassigned characters and others of any width.
var hostile = rapid.StringOf(rapid.RuneFrom([]rune("a \t\n\r\"\\é渡\u3000\u00a0\x1b\x7f\u0085\u009b\u061c\u200b\u200e\u202e\u2066\u2028\ufeff\U000e0001\U0010ffff😀")))

// TestJSON checks that the output parses to the same value, with invisible characters escaped.
func TestJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := map[string]string{hostile.Draw(rt, "key"): hostile.Draw(rt, "value")}
		var text bytes.Buffer
		if err := NewEncoder(&text).Encode(value); err != nil {
			rt.Fatal(err)
		}
		line := strings.TrimSuffix(text.String(), "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			rt.Errorf("%q", line)
		}
		var got map[string]string
		if err := json.Unmarshal(text.Bytes(), &got); err != nil {
			rt.Fatalf("%q: %v", line, err)
		}
		for k, v := range value {
			if got[k] != v {
				rt.Errorf("%q became %q", v, got[k])
			}
		}
	})
	if got := JSON(nil, []byte("\"é渡\u009b\u202e\U000e0001\"\n")); string(got) != `"é渡\u009b\u202e\udb40\udc01"`+"\n" {
		t.Errorf("%s", got)
	}
}

// TestLine checks that the result is one line and that visible characters stay.
func TestLine(t *testing.T) {
	if got := Line("a\n\tb\x1b[2J\u009b\u202e渡 é"); got != `a  b\u001b[2J\u009b\u202e渡 é` {
		t.Errorf("%s", got)
	}
	rapid.Check(t, func(rt *rapid.T) {
		line := Line(hostile.Draw(rt, "text"))
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			rt.Errorf("%q", line)
		}
	})
}
