package textdiff

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParts(t *testing.T) {
	left, right := Parts("One two three. Four five six.", "And more. One two three. Four eight six.")
	if want := []Part{{Text: "One two three. Four "}, {Text: "five", Only: true}, {Text: " six."}}; !slices.Equal(left, want) {
		t.Errorf("left %+v", left)
	}
	if want := []Part{{Text: "And more", Only: true}, {Text: ". One two three. Four "}, {Text: "eight", Only: true}, {Text: " six."}}; !slices.Equal(right, want) {
		t.Errorf("right %+v", right)
	}
	left, _ = Parts("one two three four five six seven. eleven twelve thirteen fourteen fifteen.", "eleven twelve thirteen fourteen fifteen. one two three four five six seven.")
	if len(left) != 3 || !left[1].Moved || left[1].Text != "eleven twelve thirteen fourteen fifteen" {
		t.Errorf("moved: %+v", left)
	}
}

// TestPartsAreWhole checks that parts make up the whole text, and equal texts one shared part.
func TestPartsAreWhole(t *testing.T) {
	texts := rapid.StringOf(rapid.SampledFrom([]rune("ab 渡轮.\n\x00<é")))
	whole := func(parts []Part) string {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
		}
		return b.String()
	}
	rapid.Check(t, func(rt *rapid.T) {
		left, right := texts.Draw(rt, "left"), texts.Draw(rt, "right")
		a, b := Parts(left, right)
		if whole(a) != left || whole(b) != right {
			rt.Fatalf("%+v, %+v", a, b)
		}
		if same, _ := Parts(left, left); len(same) > 1 || len(same) == 1 && (same[0].Only || same[0].Moved) {
			rt.Fatalf("of itself: %+v", same)
		}
	})
}
