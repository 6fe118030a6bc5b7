package output

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// mustLink makes a hard or symbolic link, or skips the test if links are unsupported.
func mustLink(t *testing.T, make func(old, new string) error, old, new string) {
	t.Helper()
	if err := make(old, new); err != nil {
		t.Skip(err)
	}
}

func TestCheckOutputs(t *testing.T) {
	filetest.Chdir(t, "in.jsonl", "out.jsonl", "part.jsonl.partial", "dir/a.jsonl", "index/table.db", "elsewhere/table.db")
	mustLink(t, os.Link, "in.jsonl", "hard.jsonl")
	mustLink(t, os.Link, "out.jsonl", "out-hard.jsonl")
	mustLink(t, os.Link, "index/table.db", "table-hard")
	for link, target := range map[string]string{
		"in-link.jsonl": "in.jsonl", "out-link.jsonl": "out.jsonl", "linked": "dir", "dir/up": "..",
		"dangling.jsonl": "dir/none.jsonl", "dangling2.jsonl": "dangling.jsonl", "linked-index": "index",
		"to-index": "index/new.jsonl", "index/filter.bloom": "../elsewhere/table.db", "later": "made-later",
		"loop": "loop",
	} {
		mustLink(t, os.Symlink, target, link)
	}
	inputs, _, err := input.Expand([]string{"in.jsonl", "part.jsonl.partial", "-"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("dir/none.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct{ index, outputs string }{
		// An input.
		{"", "in.jsonl"},
		{"", "./in.jsonl"},
		{"", "dir/../in.jsonl"},
		{"", "linked/up/in.jsonl"},
		{"", "hard.jsonl"},
		{"", "in-link.jsonl"},
		{"", "part.jsonl"},
		// Each other.
		{"", "a.jsonl a.jsonl"},
		{"", "a.jsonl ./a.jsonl"},
		{"", "out.jsonl out-link.jsonl"},
		{"", "out.jsonl out-hard.jsonl"},
		{"", "dir/a.jsonl linked/a.jsonl"},
		{"", "dir/new.jsonl linked/new.jsonl"},
		{"", "dir/none.jsonl dangling.jsonl"},
		{"", "dangling2.jsonl dangling.jsonl"},
		{"", "dangling2.jsonl " + abs},
		{"", "new.jsonl new.jsonl.partial"},
		{"", "new.jsonl.partial new.jsonl"},
		{"", "linked/up/new.jsonl new.jsonl"},
		// The index.
		{"index", "index/table.db"},
		{"index", "index/new.jsonl"},
		{"index/", "index"},
		{"./index", "linked-index/new.jsonl"},
		{"linked-index", "index/new.jsonl"},
		{"index", "to-index"},
		{"index", "dir/../index/new"},
		{"index", "table-hard"},
		{"index", "elsewhere/table.db"},
		{"new-index", "new-index/out.jsonl"},
		{"new-index", "./new-index/a/b/out.jsonl"},
		{"new-index", "new-index"},
		{"new.partial", "new"},
		{"made-later", "later"},
		{"dir", "linked/up/dir/sub/x.jsonl"},
	} {
		if err := CheckOutputs(inputs, bad.index, strings.Fields(bad.outputs)...); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	good := []string{"", "-", "", "-", "out.jsonl", "new.jsonl", "index.jsonl", "dir/index", "dir/out.jsonl", "loop"}
	if runtime.GOOS != "windows" {
		good = append(good, os.DevNull, os.DevNull)
	}
	if err := CheckOutputs(inputs, "index", good...); err != nil {
		t.Error(err)
	}
}

// TestCheckStandardStreams runs itself with files as standard streams.
func TestCheckStandardStreams(t *testing.T) {
	const env = "CORPUS_TEST_STREAMS"
	if args := os.Getenv(env); args != "" {
		inputs, _, err := input.Expand(strings.Fields(args)[:1], nil)
		if err == nil {
			err = CheckOutputs(inputs, "index", strings.Fields(args)[1:]...)
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(7)
		}
		os.Exit(0)
	}
	filetest.Chdir(t, "in.jsonl", "out.jsonl", "other.jsonl", "index/table.db")
	for _, c := range []struct {
		args, stdin, stdout string
		want                string // part of the error, "" for none
	}{
		{"- in.jsonl", "in.jsonl", "", "output in.jsonl is the input stdin"},
		{"- out.jsonl", "in.jsonl", "", ""},
		{"in.jsonl -", "", "in.jsonl", "output standard output is the input in.jsonl"},
		{"in.jsonl -", "", "out.jsonl", ""},
		{"in.jsonl - out.jsonl", "", "out.jsonl", "named as output twice"},
		{"in.jsonl -", "", "index/table.db", "lies in the index directory"},
		{"in.jsonl other.jsonl", "", "in.jsonl", ""}, // standard output is not used
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCheckStandardStreams$")
		cmd.Env = append(os.Environ(), env+"="+c.args)
		if c.stdin != "" {
			f, err := os.Open(c.stdin)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.Stdin = f
		}
		if c.stdout != "" {
			f, err := os.OpenFile(c.stdout, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.Stdout = f
		}
		var said strings.Builder
		cmd.Stderr = &said
		err := cmd.Run()
		if (err != nil) != (c.want != "") || !strings.Contains(said.String(), c.want) {
			t.Errorf("%+v: %v, %q", c, err, said.String())
		}
	}
}
