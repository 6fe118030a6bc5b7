package derive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// inputsOf writes an input of each size. Every tenth document is bad.
func inputsOf(t interface{ Fatal(...any) }, dir string, sizes []int) (inputs []input.Input, format jsonl.Format) {
	for i, size := range sizes {
		path := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
		var b strings.Builder
		for n := range size {
			if n%10 == 9 {
				b.WriteString("{\"id\":\n")
				continue
			}
			fmt.Fprintf(&b, "{\"id\":\"%d-%d\",\"text\":\"文 %d\"}\n", i, n, n)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, input.Input{Path: path, Name: path, Size: int64(b.Len())})
	}
	return inputs, format
}

func reportOf(t interface{ Fatal(...any) }, dir, text string) *lines.Reports {
	name := filepath.Join(dir, "report")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := lines.Open([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRecords checks that every record comes once, in order, with its own line and no other.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 5).Draw(rt, "sizes")
		inputs, format := inputsOf(rt, dir, sizes)
		var report strings.Builder
		var want []string
		for i, size := range sizes {
			for n := range size {
				id := fmt.Sprint(i, "-", n)
				switch {
				case n%10 == 9:
					want = append(want, "bad")
				case rapid.IntRange(0, 3).Draw(rt, "reported") == 0:
					fmt.Fprintf(&report, `{"id":%q,"verdict":"related","kept":true,"of":"x","file":%q,"line":%d}`+"\n", id, inputs[i].Path, n+1)
					want = append(want, id+" reported")
				default:
					want = append(want, id)
				}
			}
		}
		var got []string
		source := corpus.NewSource(inputs, format, corpus.SourceConfig{BlockSize: 200})
		for r, err := range Records(context.Background(), source, reportOf(rt, dir, report.String())) {
			if err != nil {
				rt.Fatal(err)
			}
			said := string(r.ID)
			switch {
			case r.Bad != nil:
				said = "bad"
			case r.Line != nil && r.Line.ID != said:
				rt.Fatalf("%s has the line of %s", said, r.Line.ID)
			case r.Line != nil:
				said += " reported"
			}
			got = append(got, said)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// TestEachInputHasAttributes checks that even an empty input has a file, with a row per record.
func TestEachInputHasAttributes(t *testing.T) {
	dir := t.TempDir()
	sizes := []int{0, 3, 0, 0, 25, 0}
	inputs, format := inputsOf(t, dir, sizes)
	var names []string
	for i := range inputs {
		names = append(names, filepath.Base(inputs[i].Path))
	}
	out := filepath.Join(dir, "tree")
	source := corpus.NewSource(inputs, format, corpus.SourceConfig{BlockSize: 200})
	begun := 0
	if err := Attributes(context.Background(), source, names, reportOf(t, dir, ""), nil, out, func(*output.Writer) { begun++ }, anyRecord); err != nil || begun != len(sizes) {
		t.Fatalf("%d files, %v", begun, err)
	}
	for i, name := range names {
		if text, err := os.ReadFile(filepath.Join(out, name)); err != nil || strings.Count(string(text), "\n") != sizes[i] {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestOtherReport checks that a report of other inputs is refused, whatever the difference.
func TestOtherReport(t *testing.T) {
	dir := t.TempDir()
	inputs, format := inputsOf(t, dir, []int{12})
	line := func(id, file string, at int) string {
		return fmt.Sprintf(`{"id":%q,"verdict":"related","kept":true,"of":"x","file":%q,"line":%d,"spans":[[0,99]]}`+"\n", id, file, at)
	}
	here := inputs[0].Path
	for name, report := range map[string]string{
		"another document":         line("other", here, 3),
		"a bad record":             line("", here, 10),
		"behind the end":           line("0-12", here, 13),
		"another file":             line("0-1", "elsewhere", 2),
		"not in order":             line("0-4", here, 5) + line("0-1", here, 2),
		"twice":                    line("0-1", here, 2) + line("0-1", here, 2),
		"passages beyond the text": line("0-1", here, 2),
	} {
		source := corpus.NewSource(inputs, format, corpus.SourceConfig{})
		out := filepath.Join(dir, "tree")
		err := Attributes(context.Background(), source, []string{"0.jsonl"}, reportOf(t, dir, report), nil, out, func(*output.Writer) {}, anyRecord)
		if !errors.Is(err, ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(out); len(left) != 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
}

// TestInputsAreCounted checks the inputs against the counts at the end of a report of shards.
func TestInputsAreCounted(t *testing.T) {
	dir := t.TempDir()
	inputs, format := inputsOf(t, dir, []int{12, 3}) // one record is bad
	read := func(end string) error {
		source := corpus.NewSource(inputs, format, corpus.SourceConfig{})
		for _, err := range Records(t.Context(), source, reportOf(t, dir, end)) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	var sum uint64
	for i, n := range []int{12, 3} {
		for n := range n {
			if n != 9 {
				sum += report.SumText(corpus.Place{Record: int64(n + 1)}, fmt.Append(nil, i, "-", n), fmt.Append(nil, "文 ", n))
			}
		}
	}
	end := func(documents, bad int, sum uint64) string {
		return fmt.Sprintf(`{"end":{"lines":0,"documents":%d,"bad_records":%d,"texts":"%d"}}`, documents, bad, sum)
	}
	for text, whole := range map[string]bool{"": true, end(14, 1, sum): true, end(13, 1, sum): false, end(14, 2, sum): false, end(14, 1, sum+1): false} {
		if err := read(text); errors.Is(err, ErrOther) == whole || whole && err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	a, b := corpus.Place{Record: 1}, corpus.Place{Part: 1, Record: 1}
	if x := report.SumText(a, []byte("i"), []byte("t")); x == report.SumText(b, []byte("i"), []byte("t")) || x == report.SumText(a, []byte("it"), nil) || x == report.SumText(a, []byte("t"), []byte("i")) {
		t.Error("the sum lacks the place, or the end of the id")
	}
	two := func(x, y string) uint64 {
		return report.SumText(a, []byte("i"), []byte(x)) + report.SumText(b, []byte("j"), []byte(y))
	}
	if two("t", "u") == two("u", "t") {
		t.Error("two texts that change places have the same sum")
	}
}

// TestNamesOutsideUTF8 checks names that a report cannot hold as they are, because it is JSON.
func TestNamesOutsideUTF8(t *testing.T) {
	dir := t.TempDir()
	inputs, _ := inputsOf(t, dir, []int{3})
	inputs[0].Name = "caf\xe9\xff.jsonl"
	format := jsonl.Format{Fields: jsonl.Fields{ID: "none"}} // the id is file and line
	told, err := report.AppendJSON(nil, report.Reported{ID: inputs[0].Name + ":2", Verdict: "related", Kept: true, File: inputs[0].Name, Line: corpus.Place{Record: 2}})
	if err != nil {
		t.Fatal(err)
	}
	var with []string
	for r, err := range Records(context.Background(), corpus.NewSource(inputs, format, corpus.SourceConfig{}), reportOf(t, dir, string(told)+"\n")) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Line != nil && r.Line.ID == string(r.ID) {
			with = append(with, r.Line.ID)
		}
	}
	if want := []string{"caf\ufffd\ufffd.jsonl:2"}; !slices.Equal(with, want) {
		t.Errorf("lines of %q, want %q", with, want)
	}
}

// TestEqualNames checks that inputs with one name are refused. Their documents would get each
// other's lines. A file given twice counts once.
func TestEqualNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tar")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	for _, name := range []string{"a.jsonl", "b.jsonl", "b.jsonl"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: 3, Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("{}\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	members, _, err := input.Expand([]string{path}, []string{".jsonl"})
	if err != nil || len(members) != 3 {
		t.Fatal(members, err)
	}
	one, other := input.Input{Path: "caf\xe8", Name: "caf\xe8"}, input.Input{Path: "caf\xe9", Name: "caf\xe9"}
	plain := input.Input{Path: "a", Name: "a"}
	for _, c := range []struct {
		inputs  []input.Input
		refused string
	}{
		{members, "two members of an archive have the name " + path + "/b.jsonl,"},
		{members[:2], ""},
		{slices.Concat(members[:2], members[:2]), ""},
		{[]input.Input{one, plain, other}, `"caf\xe8" and "caf\xe9" have the same name in a report`},
		{[]input.Input{one, plain, plain, one}, ""},
	} {
		err := CheckNames(c.inputs)
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), c.refused)) {
			t.Errorf("%v, want %q", err, c.refused)
		}
	}
}

func anyRecord(_ corpus.Record, err error) (good bool, _ error) { return true, err }
