package input_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/compress"
	. "github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// jsonEndings holds the file name endings of JSON lines.
var jsonEndings = []string{".jsonl", ".ndjson", ".json"}

// TestBesideUnreadable names and finds a member next to one that cannot be read.
func TestBesideUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, map[string]string{"in/a.jsonl": "{}", "in/b.jsonl": "{}", "in/c.txt": "two"})
	if err := corpustest.Pack("mix.zip", "in"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("mix.zip")
	if err != nil {
		t.Fatal(err)
	}
	data[strings.Index(string(data), "PK\x01\x02")+8] |= 1 // a.jsonl is encrypted
	filetest.Write(t, map[string]string{"mix.zip": string(data)})
	const refused = `archive mix.zip: its member "a.jsonl" is encrypted: unpack it first, with its password`
	for args, want := range map[string]string{
		"mix.zip":                          refused,
		"mix.zip/a.jsonl":                  refused,
		"mix.zip/b.jsonl mix.zip/a.jsonl":  refused,
		"mix.zip/b.jsonl mix.zip/c.txt":    "",
		"mix.zip/b.jsonl mix.zip/none.txt": `archive mix.zip holds no file "none.txt": file does not exist`,
	} {
		inputs, _, err := Expand(strings.Fields(args), jsonEndings)
		if want == "" && (err != nil || len(inputs) != 2 || memberContent(t, inputs[0]) != "{}" || memberContent(t, inputs[1]) != "two") {
			t.Errorf("%s: %v, %v", args, inputs, err)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	f := NewFinder(nil, compress.Bounds{})
	if in, err := f.Find("mix.zip/b.jsonl"); err != nil || memberContent(t, in) != "{}" {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := f.Find("mix.zip/a.jsonl"); err == nil || err.Error() != refused {
		t.Errorf("%v, want %s", err, refused)
	}
}

// TestUnpackedIfNamed checks that only the named members of a compressed tar archive are unpacked.
func TestUnpackedIfNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, map[string]string{"in/a.jsonl": "{}", "in/b.jsonl": "{}", "in/c.jsonl": strings.Repeat(" ", 1000), "in/d.txt": "text"})
	if err := corpustest.Pack("in.tgz", "in"); err != nil {
		t.Fatal(err)
	}
	inputs, _, err := Expand([]string{"in.tgz/d.txt", "in.tgz/a.jsonl"}, jsonEndings)
	if err != nil || len(inputs) != 2 || memberContent(t, inputs[0]) != "text" || memberContent(t, inputs[1]) != "{}" {
		t.Fatal(inputs, err)
	}
	if n, err := inputs[0].SpoolSize(); n != 6 || err != nil {
		t.Errorf("%d bytes are unpacked, %v", n, err)
	}
}

// TestCutCompressedTars cuts the second of two concatenated archives: every cut is an error.
func TestCutCompressedTars(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, map[string]string{"a/a.jsonl": `{"text":"one"}`, "b/b.jsonl": `{"text":"two"}`})
	for _, ending := range []string{".tgz", ".tar.zst"} {
		var packed [2]string
		for i, folder := range []string{"a", "b"} {
			if err := corpustest.Pack(folder+ending, folder); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(folder + ending)
			if err != nil {
				t.Fatal(err)
			}
			packed[i] = string(data)
		}
		for n := range len(packed[1]) {
			filetest.Write(t, map[string]string{"ab" + ending: packed[0] + packed[1][:len(packed[1])-n]})
			inputs, _, err := Expand([]string{"ab" + ending}, jsonEndings)
			if n == 0 && (err != nil || len(inputs) != 2) {
				t.Fatalf("%s: %d members, %v", ending, len(inputs), err)
			}
			if n > 0 && err == nil {
				t.Errorf("%s without its last %d bytes: %d members and no error", ending, n, len(inputs))
			}
		}
	}
}

func memberContent(t *testing.T, in Input) string {
	t.Helper()
	f, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
