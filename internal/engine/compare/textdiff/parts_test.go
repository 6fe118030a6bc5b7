package textdiff

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPairs(t *testing.T) {
	want := []Pair{
		{[]Part{{Text: "One two three."}}, []Part{{Text: "And more", Only: true}, {Text: ". One two three."}}, false},
		{[]Part{{Text: " Four "}, {Text: "five", Only: true}, {Text: " six."}}, []Part{{Text: " Four "}, {Text: "eight", Only: true}, {Text: " six."}}, false},
	}
	if all := Pairs("One two three. Four five six.", "And more. One two three. Four eight six."); !reflect.DeepEqual(all, want) {
		t.Errorf("%+v", all)
	}
	left, _ := parts("one two three four five six seven. eleven twelve thirteen fourteen fifteen.", "eleven twelve thirteen fourteen fifteen. one two three four five six seven.")
	if !slices.ContainsFunc(left, func(p Part) bool { return p.Moved && p.Text == "eleven twelve thirteen fourteen fifteen" }) {
		t.Errorf("moved: %+v", left)
	}
}

// parts returns all parts of each text.
func parts(left, right string) (a, b []Part) {
	for _, p := range Pairs(left, right) {
		a, b = append(a, p.Left...), append(b, p.Right...)
	}
	return a, b
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
		a, b := parts(left, right)
		if whole(a) != left || whole(b) != right {
			rt.Fatalf("%+v, %+v", a, b)
		}
		for _, p := range Pairs(left, left) {
			if !p.Alike || len(p.Left) != 1 || len(p.Right) != 1 || p.Left[0] != p.Right[0] {
				rt.Fatalf("of itself: %+v", p)
			}
		}
	})
}
