package flip

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDamages checks that every damage changes something, and that every bit is flipped.
func TestDamages(t *testing.T) {
	data := make([]byte, 3*pageBytes+100)
	for i := range data {
		data[i] = byte(i/pageBytes + 1)
	}
	bits, kinds := map[damage]bool{}, make([]int, len(kindNames))
	for _, d := range damages(len(data)) {
		got := d.apply(nil, data)
		if got == nil || bytes.Equal(got, data) {
			t.Fatalf("%v changes nothing", d)
		}
		kinds[d.kind]++
		if d.kind == bit {
			bits[d] = true
		}
	}
	if len(bits) != 8*len(data) {
		t.Errorf("%d bits are flipped, not %d", len(bits), 8*len(data))
	}
	if slices.Contains(kinds, 0) {
		t.Errorf("of the kinds there are %v", kinds)
	}
	if d := (damage{swap, 0, 1}); d.apply(nil, make([]byte, 2*pageBytes)) != nil {
		t.Error("equal pages swapped are said to change something")
	}
	if got := damages(0); len(got) != 0 {
		t.Errorf("an empty file is damaged in %d ways", len(got))
	}
}

// TestWorker damages the header page of a table, which is refused, and the empty last pages. The
// copy is whole again after each.
func TestWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	root := t.TempDir()
	program := filepath.Join(root, "firstseen")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/firstseen/firstseen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := filepath.Join(root, "whole")
	if err := build(t.Context(), program, whole, sorts[0].made, sorts[0].flags); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(whole, "table.db"))
	if err != nil {
		t.Fatal(err)
	}
	for at, refused := range map[int]bool{16: true, 8*(len(data)-20) + 3: false} {
		w := Worker{Whole: whole, Dir: filepath.Join(root, "copy"), File: "table.db", Note: filepath.Join(root, "note")}
		if w.From = at; refused {
			w.From = 8 * at // a header byte under the checksum
		}
		w.To = w.From + 8
		var out strings.Builder
		if err := w.Run(&out); err != nil {
			t.Fatal(err)
		}
		var f finding
		if err := json.Unmarshal([]byte(out.String()), &f); err != nil {
			t.Fatalf("%v: %s", err, &out)
		}
		got := f.Tallies[bit]
		if got.Wrong > 0 || got.Done < 8 || (got.Refused == got.Done) != refused || (got.Same == got.Done) == refused {
			t.Errorf("byte %d: %+v", w.From/8, got)
		}
		after, err := os.ReadFile(filepath.Join(root, "copy", "table.db"))
		if err != nil || !bytes.Equal(after, data) {
			t.Errorf("the copy is not whole again: %v", err)
		}
		if n, err := readNote(w.Note); err != nil || n != w.To-1 {
			t.Errorf("the note says %d, %v", n, err)
		}
	}
}

// TestWrongAnswers checks that wrong answers and panics are counted.
func TestWrongAnswers(t *testing.T) {
	whole := t.TempDir()
	if err := os.WriteFile(filepath.Join(whole, "f"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	w := Worker{Whole: whole, Dir: filepath.Join(t.TempDir(), "copy"), File: "f"}
	if err := w.restore(); err != nil {
		t.Fatal(err)
	}
	var tally Tally
	for _, ask := range []func() (uint64, error){
		func() (uint64, error) { return 2, nil },
		func() (uint64, error) { panic("here") },
		func() (uint64, error) { return 1, nil },
		func() (uint64, error) { return 0, os.ErrInvalid },
	} {
		if _, err := w.try(question{name: "q", ask: ask, want: 1}, damage{bit, 0, 1}, 0, []byte("y"), []byte("x"), &tally); err != nil {
			t.Fatal(err)
		}
	}
	if tally != (Tally{Done: 4, Refused: 1, Same: 1, Wrong: 2}) {
		t.Errorf("%+v", tally)
	}
}
