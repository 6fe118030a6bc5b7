package textdiff

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRowParts(t *testing.T) {
	rows := Rows("One two three. Four five six.", "And more. One two three. Four eight six.")
	want := []Row{
		{Left: []Part{{Text: "One two three."}}, Right: []Part{{Text: "And more", Only: true}, {Text: ". One two three."}}},
		{Left: []Part{{Text: " Four "}, {Text: "five", Only: true}, {Text: " six."}}, Right: []Part{{Text: " Four "}, {Text: "eight", Only: true}, {Text: " six."}}},
	}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("%+v", rows)
	}
	rows = Rows("one two three four five six seven. eleven twelve thirteen fourteen fifteen.", "eleven twelve thirteen fourteen fifteen. one two three four five six seven.")
	if left := rows[0].Left; len(left) != 3 || !left[1].Moved || left[1].Text != "eleven twelve thirteen fourteen fifteen" {
		t.Errorf("moved: %+v", rows)
	}
}

// TestRowsFold checks that a fold stands for the same sentences on both sides.
func TestRowsFold(t *testing.T) {
	text := ""
	for i := range 9 {
		text += fmt.Sprintf("Sentence number%d of nine. ", i)
	}
	rows := Rows("Old start here. "+text+"Old end.", "Fresh begin there. "+text+"Fresh stop.")
	if len(rows) != 5 || rows[2].Folded != 6 || rows[2].Left != nil {
		t.Fatalf("%+v", rows)
	}
	for _, i := range []int{1, 3} {
		if len(rows[i].Left) != 1 || !slices.Equal(rows[i].Left, rows[i].Right) || rows[i].Left[0].Only {
			t.Errorf("row %d: %+v", i, rows[i])
		}
	}
	only := 0
	for _, row := range Rows(text, strings.Replace(text, "number4 of", "number4 and more of", 1)) {
		if slices.Contains(row.Right, Part{Text: "and more", Only: true}) {
			only++
		}
	}
	if only != 1 {
		t.Errorf("what only the right text has is in %d rows", only)
	}
}

// TestRowsAreWhole checks that rows without folds make up the whole texts, and rows of equal texts
// are shared.
func TestRowsAreWhole(t *testing.T) {
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
		a, b, folded := "", "", false
		for _, row := range Rows(left, right) {
			a, b, folded = a+whole(row.Left), b+whole(row.Right), folded || row.Folded > 0
		}
		if !folded && (a != left || b != right) {
			rt.Fatalf("%q, %q", a, b)
		}
		for _, row := range Rows(left, left) {
			if len(row.Left) > 1 || len(row.Left) == 1 && (row.Left[0].Only || row.Left[0].Moved) {
				rt.Fatalf("of itself: %+v", row)
			}
		}
	})
}
