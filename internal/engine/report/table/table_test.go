package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTables checks that other readers read any value back as it was.
func TestTables(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.String().Draw(rt, "id")
		id = strings.ReplaceAll(strings.ToValidUTF8(id, "?"), "\r", " ") // which csv.Reader drops
		size := rapid.Int().Draw(rt, "size")
		for _, name := range []string{"t.csv", "t.tsv", "t.jsonl"} {
			var text bytes.Buffer
			rows, err := New(&text, name, "id", "size", "none")
			if err != nil {
				rt.Fatal(err)
			}
			for range 2 {
				if err := rows.Write(id, size, nil); err != nil {
					rt.Fatal(err)
				}
			}
			if name == "t.jsonl" {
				checkJSON(rt, text.String(), id, size)
				continue
			}
			r := csv.NewReader(&text)
			r.Comma = map[string]rune{"t.csv": ',', "t.tsv": '\t'}[name]
			all, err := r.ReadAll()
			if err != nil || len(all) != 3 || !slices.Equal(all[0], []string{"id", "size", "none"}) || all[2][0] != id || all[2][2] != "" {
				rt.Fatalf("%s: %q, %v", name, all, err)
			}
		}
	})
}

func checkJSON(rt *rapid.T, text, id string, size int) {
	if !strings.HasPrefix(text, `{"id":`) || strings.Count(text, "\n") != 2 {
		rt.Fatalf("%q", text)
	}
	var row struct {
		ID   string
		Size int
		None *string
	}
	for line := range strings.Lines(text) {
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.ID != id || row.Size != size || row.None != nil {
			rt.Fatalf("%q: %+v, %v", line, row, err)
		}
	}
}

// TestNamesAndSigns checks that the case of file extensions is ignored and HTML is not escaped.
func TestNamesAndSigns(t *testing.T) {
	for name, want := range map[string]string{
		"T.CSV": "id\n<&>\n", "t.Tsv": "id\n<&>\n", "t.JSONL": "{\"id\":\"<&>\"}\n", "csv": "{\"id\":\"<&>\"}\n",
	} {
		var text bytes.Buffer
		rows, err := New(&text, name, "id")
		if err != nil {
			t.Fatal(err)
		}
		if err := rows.Write("<&>"); err != nil {
			t.Fatal(err)
		}
		if text.String() != want {
			t.Errorf("%s: %q", name, &text)
		}
	}
}
