package rows

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTables: whatever a value is, what is written is read by others as it was.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.String().Draw(rt, "id")
		id = strings.ReplaceAll(strings.ToValidUTF8(id, "?"), "\r", " ") // which csv.Reader drops
		size := rapid.Int().Draw(rt, "size")
		for _, name := range []string{"t.csv", "t.tsv", "t.jsonl"} {
			path := filepath.Join(dir, name)
			table, err := Create(path, "id", "size", "none")
			if err != nil {
				rt.Fatal(err)
			}
			for range 2 {
				if err := table.Write(id, size, nil); err != nil {
					rt.Fatal(err)
				}
			}
			if err := table.Close(); err != nil {
				rt.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				rt.Fatal(err)
			}
			if name == "t.jsonl" {
				checkJSON(rt, string(text), id, size)
				continue
			}
			r := csv.NewReader(strings.NewReader(string(text)))
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

// TestNoHalfTable: what is given up leaves nothing, and what was there stays.
func TestNoHalfTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := Create(path, "id")
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Write("a"); err != nil {
		t.Fatal(err)
	}
	if err := table.Discard(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	left, _ := filepath.Glob(path + "*")
	if err != nil || string(text) != "before" || len(left) != 1 {
		t.Errorf("%q, %v, %q", text, err, left)
	}
}

// TestNamesAndSigns: endings count in any letters, and signs of HTML are written as they are.
func TestNamesAndSigns(t *testing.T) {
	for name, want := range map[string]string{
		"T.CSV": "id\n<&>\n", "t.Tsv": "id\n<&>\n", "t.JSONL": "{\"id\":\"<&>\"}\n", "csv": "{\"id\":\"<&>\"}\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		table, err := Create(path, "id")
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Write("<&>"); err != nil {
			t.Fatal(err)
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
