package passages

import (
	"strings"
	"testing"
)

func TestAlike(t *testing.T) {
	frames := []string{strings.Repeat("the same words in both 两边相同的字，", 3)}
	for n := range 9 {
		frames = append(frames, frames[0][:n])
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"", " ¶\n", true},
		{"Words of a page", "words\tof — a page ====", true},
		{"don’t “quote” me", "don't \"quote\" me", true},
		{"两边相同，的字", "两边相同的字。", true},
		{"a\u00adb", "ab", true},
		{"é", "è", false},
		{"相", "盹", false}, // the first two bytes are the same
		{"one", "on", false},
		{"on", "one", false},
		{"version 3.14", "version 3,14", false},
		{"version 3．14", "version 3，14", false},
		{"version 3. Then", "version 3, then", true},
		{"e\u0301", "e", false},
		{"\xe7\x9b", "\xe7\x9b\xb8", false},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			for _, frame := range frames {
				if got := alike([]byte(frame+pair[0]+frame), []byte(frame+pair[1]+frame)); got != c.want {
					t.Errorf("%q and %q in %q: %t", pair[0], pair[1], frame, got)
				}
			}
		}
	}
}
