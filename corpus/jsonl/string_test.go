package jsonl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
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

// decoded returns the result of decodeString, in blocks of size bytes, for a string inside a line.
func decoded(inside string, size int) string {
	defer func(was int) { block = was }(block)
	block = size
	line := `{"text":"` + inside + `", "other": "something behind it"}`
	out, end, err := decodeString(make([]byte, 0, len(line)+64), []byte(line), 9)
	return fmt.Sprintf("%q %d %v", out, end, err)
}

// TestDecodeInBlocks checks that decoding in blocks changes nothing, not even errors and their
// places. A valid string decodes as encoding/json decodes it.
func TestDecodeInBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkDecode(t, stringParts().Draw(t, "inside")) })
}

func FuzzDecode(f *testing.F) {
	f.Add(strings.Repeat(`text, \n`, 20) + `\"中文\"` + strings.Repeat("é", 40))
	f.Add(strings.Repeat("中文", 40) + "\xE4\xB8" + strings.Repeat("a", 70))
	f.Fuzz(func(t *testing.T, inside string) { checkDecode(t, inside) })
}

func checkDecode(t rapid.TB, inside string) {
	want := decoded(inside, 0)
	for size := 32; size <= maxBlock; size *= 2 {
		if got := decoded(inside, size); got != want {
			t.Fatalf("%q (-bytes +blocks of %d):\n%s", inside, size, cmp.Diff(want, got))
		}
	}
	var text string
	if utf8.ValidString(inside) && json.Unmarshal([]byte(`"`+inside+`"`), &text) == nil {
		if text := fmt.Sprintf("%q %d %v", text, 9+len(inside), nil); text != want {
			t.Fatalf("%q (-encoding/json +decodeString):\n%s", inside, cmp.Diff(text, want))
		}
	}
}
