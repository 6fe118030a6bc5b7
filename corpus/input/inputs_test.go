package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

var lineEndings = []string{".jsonl", ".ndjson", ".json"}

func TestExpand(t *testing.T) {
	filetest.Chdir(t, "b.txt", "a.jsonl", "dir/z.jsonl", "dir/a.json.gz", "dir/m.ndjson.zst", "dir/no.txt", "dir/a/x.jsonl",
		"dir/x.jsonl.partial", "dir/x.jsonl.xz", "dir2/no.txt", "[odd].jsonl", "o.jsonl")
	for _, test := range []struct {
		args string // separated by spaces
		want string // names, or "error: " and part of the message
	}{
		{"b.txt a.jsonl b.txt", "b.txt a.jsonl b.txt"},
		{"- a.jsonl", "stdin a.jsonl"},
		{"- -", "error: twice"},
		{"dir", "dir/a/x.jsonl dir/a.json.gz dir/m.ndjson.zst dir/x.jsonl.xz dir/z.jsonl"},
		{"dir/", "dir/a/x.jsonl dir/a.json.gz dir/m.ndjson.zst dir/x.jsonl.xz dir/z.jsonl"},
		{"*.jsonl", "[odd].jsonl a.jsonl o.jsonl"},
		{"[odd].jsonl", "[odd].jsonl"},
		{"d*/[mz].*", "dir/m.ndjson.zst dir/z.jsonl"},
		{"di?", "dir/a/x.jsonl dir/a.json.gz dir/m.ndjson.zst dir/x.jsonl.xz dir/z.jsonl"},
		{"none*", "error: no file matches"},
		{"**/a.jsonl", "error: ** matches one folder"},
		{"a[", "error: syntax error in pattern"},
		{"none", "error: none"},
		{"dir2", "error: directory dir2"},
	} {
		inputs, _, err := Expand(strings.Fields(test.args), lineEndings)
		var names []string
		for _, in := range inputs {
			names = append(names, filepath.ToSlash(in.Name))
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
			if part, isError := strings.CutPrefix(test.want, "error: "); isError && strings.Contains(got, part) {
				continue
			}
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.args, got, test.want)
		}
	}
}

func TestExpandFollowsNamedLinks(t *testing.T) {
	filetest.Chdir(t, "dir/a.jsonl", "other/b.jsonl")
	for link, to := range map[string]string{"link": "dir", "dir/l.jsonl": "../other/b.jsonl", "dir/sub": "../other"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	inputs, _, err := Expand([]string{"link"}, lineEndings)
	if err != nil || len(inputs) != 2 || inputs[0].Name != filepath.Join("link", "a.jsonl") {
		t.Errorf("%v, %v", inputs, err)
	}
}

func TestExpandUnreadable(t *testing.T) {
	filetest.Chdir(t, "a.jsonl")
	if err := os.Chmod("a.jsonl", 0); err != nil {
		t.Fatal(err)
	}
	var openErr, err error
	asNobody(func() {
		var f *os.File
		if f, openErr = os.Open("a.jsonl"); openErr == nil {
			_ = f.Close()
		}
		_, _, err = Expand([]string{"a.jsonl"}, lineEndings)
	})
	if openErr == nil {
		t.Skip("this user may read everything")
	}
	if err == nil || !strings.Contains(err.Error(), "a.jsonl") {
		t.Errorf("error %v", err)
	}
}

func TestTotalSize(t *testing.T) {
	if n, known := TotalSize([]Input{{Size: 3}, {Size: 4}}); n != 7 || !known {
		t.Error(n, known)
	}
	if n, known := TotalSize([]Input{{Size: 3}, {Size: -1}}); n != 3 || known {
		t.Error(n, known)
	}
}
