package jsonl

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// stringParts generates the inside of a string, valid or not.
func stringParts() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-z ,.]{1,70}`),
		rapid.StringMatching(`[一-龥，。]{1,30}`),
		rapid.StringMatching(`(\\[nt"\\/bfr]){1,40}`),
		rapid.StringMatching(`([a-z]{1,6}\\[nt"\\]){1,20}`),
		rapid.StringMatching(`\\[!-~]`),
		rapid.SampledFrom([]string{`\u4e2d`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, "é", "😀", "\u0800", "\U0010FFFF", strings.Repeat(`\\`, 64), strings.Repeat(`\u4e2d\u6587`, 20)}),
		rapid.SampledFrom([]string{"\\", `\x`, `\u12`, "\x01", "\x1f", "\x80", "\xC0\x80", "\xE4", "\xE4\xB8", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x80\x80\x80", "\xF0\x90\x80", `"`, "a", "b", "c", "d", "e"}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
	})
}

// TestDecode checks that a string is accepted and decoded as by encoding/json, and only as UTF-8.
func TestDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkDecode(t, stringParts().Draw(t, "inside")) })
}

func FuzzDecode(f *testing.F) {
	f.Add(strings.Repeat(`text, \n`, 20) + `\"中文\"` + strings.Repeat("é", 40))
	f.Add(strings.Repeat("中文", 40) + "\xE4\xB8" + strings.Repeat("a", 70))
	f.Fuzz(func(t *testing.T, inside string) { checkDecode(t, inside) })
}

func checkDecode(t rapid.TB, inside string) {
	line := `{"text":"` + inside + `", "other": "something behind it"}`
	end, escaped, err := scanString([]byte(line), 9)
	var want string
	if !utf8.ValidString(inside) || json.Unmarshal([]byte(`"`+inside+`"`), &want) != nil {
		if err == nil && end == 9+len(inside) {
			t.Fatalf("%q is accepted", inside)
		}
		return
	}
	got := string(appendDecoded(nil, []byte(inside)))
	if err != nil || end != 9+len(inside) || got != want || escaped != strings.Contains(inside, `\`) {
		t.Fatalf("%q: %q, want %q; end %d, escaped %v, %v", inside, got, want, end, escaped, err)
	}
}
