package jsonl

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawLine draws lines of JSON, near misses, and garbage.
func drawLine(t *rapid.T) []byte {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		`{"text":"`, `{"id":"`, `"text"`, `"id"`, `"meta"`, `"meta.id"`, `{`, `}`, `[`, `]`, `:`, `,`, `"`, ` `, "\t", "\r",
		`\`, `\"`, `\\`, `\n`, `\u0041`, `\ud83d`, `\ude00`, `\u00`, `\x`, "世", "é", "😀", "\xff", "\xe4\xb8", "\x00", "\x7f",
		"\xed\xa0\x80", "\xe0\x80\x80", "null", "true", "1", "-", "0", "1.5e+3", "01", "abcdefgh", `{"text":"a","id":7}`,
		`{"meta":{"id":"m"},"text":"b"}`,
	}), 0, 20).Draw(t, "pieces")
	return []byte(strings.Join(pieces, ""))
}

// drawObject draws valid objects with the wanted names in many places.
func drawObject(t *rapid.T) []byte {
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

// same fails unless a record matches the oracle's.
func same(tb testing.TB, got, want oracleRecord) {
	tb.Helper()
	if got.Reason != "" {
		if want.Reason != "" && strings.Contains(got.Reason, want.Reason) {
			want.Reason = got.Reason
		}
		// A line may be bad in both ways, and the reader may report either.
		if want.Reason == "invalid JSON" && strings.HasPrefix(got.Reason, "invalid UTF-8") ||
			want.Reason == "invalid UTF-8" && strings.HasPrefix(got.Reason, "invalid JSON") {
			want.Reason = got.Reason
		}
	}
	if got != want {
		tb.Fatalf("line %q\n got %+v\nwant %+v", got.Raw, got, want)
	}
}
