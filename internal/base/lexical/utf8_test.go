package lexical_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/base/lexical"
)

// TestValidUTF8 compares with the standard library, with invalid bytes anywhere in the blocks of
// vector instructions and in the rest after them.
func TestValidUTF8(t *testing.T) {
	part := rapid.OneOf(
		rapid.StringN(0, 40, -1),
		rapid.SampledFrom([]string{strings.Repeat("a", 31), strings.Repeat("b", 29), strings.Repeat("中", 10)}),
		rapid.StringMatching(`[ -~]{0,70}|[一-龥]{1,30}|[à-ÿ]{1,9}|[😀-😈]{1,9}`),
		rapid.SampledFrom([]string{
			"", "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xDF\xBF", "\xE0\x9F\xBF", "\xE0\xA0\x80", "\xE4\xB8", "\xED\x9F\xBF",
			"\xED\xA0\x80", "\xEF\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF0\x90\x80\x80", "\xF0\x9F\x98", "\xF4\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		for _, p := range rapid.SliceOfN(part, 3, 12).Draw(t, "parts") {
			text = append(text, p...)
		}
		for from := range min(len(text), 4) {
			for to := from; to <= len(text); to++ {
				if got, want := lexical.ValidUTF8(text[from:to:to]), utf8.Valid(text[from:to]); got != want {
					t.Fatalf("%x is UTF-8: %v, want %v", text[from:to], got, want)
				}
			}
		}
	})
}
