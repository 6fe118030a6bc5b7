package units

import (
	"strings"
	"testing"
)

// TestWordsAreTaken checks that later reads leave taken words as they are, and that those of a long
// text leave no memory behind.
func TestWordsAreTaken(t *testing.T) {
	text := New()
	for _, long := range []bool{false, true} {
		words := "一些 words of a text, "
		if long {
			words = strings.Repeat(words, longForms/len(words)*2)
		}
		text.Read([]byte(words))
		want := string(text.Form(text.Len() - 1))
		n, taken := text.Len(), text.Take()
		if kept := cap(text.forms) > 0; kept == long {
			t.Errorf("long %v: memory is kept: %v", long, kept)
		}
		text.Read([]byte("other words, 其他文字"))
		if taken.Len() != n || string(taken.Form(n-1)) != want {
			t.Errorf("long %v: the taken words changed", long)
		}
	}
}
