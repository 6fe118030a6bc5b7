package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firstseen/firstseen/internal/base/amount"
)

var update = flag.Bool("update", false, "write the golden files inside the scripts, and docs/reference/commands.md, anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){stopping: stopAtStep, "firstseen": func() {
		if n, err := strconv.Atoi(os.Getenv(processorsVariable)); err == nil {
			processors = func() int { return n }
		}
		Main()
	}})
}

// processorsVariable sets the number of processors that the program sees in a test.
const processorsVariable = "FIRSTSEEN_TEST_PROCESSORS"

// TestScripts runs the scripts of testdata/script.
func TestScripts(t *testing.T) {
	guide, err := filepath.Abs("../../testdata/bilingual/guide.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                scriptCommands,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GUIDE", guide)
			e.Setenv("PARQUET", filepath.Join(filepath.Dir(guide), "../../corpus/parquet/testdata"))
			e.Setenv("RECIPES", filepath.Join(filepath.Dir(guide), "../../bench/recipes"))
			e.Setenv("SOURCE_DATE_EPOCH", "1700000000")
			return os.Mkdir(filepath.Join(e.WorkDir, "tmp"), 0o777)
		},
	})
}

// TestSizes parses and formats human-readable counts and sizes.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text        string
		count, size uint64 // 0: refused
	}{
		{"10M", 10e6, 10 << 20},
		{"1.5k", 1500, 1536},
		{"1GiB", 0, 1 << 30},
		{"1 GB", 0, 1e9},
		{"2b", 2e9, 2},
		{"7", 7, 7},
		{"0", 0, 0},
		{"-1", 0, 0},
		{"", 0, 0},
		{"M", 0, 0},
		{"nan", 0, 0},
		{"1e30", 0, 0},
		{"0.9", 0, 0},
		{"0.001k", 1, 1},
		{"10 parsecs", 0, 0},
	} {
		if n, err := amount.ParseCount(c.text); n != c.count || (err == nil) != (c.count > 0) {
			t.Errorf("amount.ParseCount(%q) = %d, %v; want %d", c.text, n, err, c.count)
		}
		if n, err := amount.ParseSize(c.text); n != c.size || (err == nil) != (c.size > 0) {
			t.Errorf("amount.ParseSize(%q) = %d, %v; want %d", c.text, n, err, c.size)
		}
	}
	for bytes, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 1 << 30: "1 GiB", 1 << 50: "1024 TiB"} {
		if got := amount.Size(bytes); got != want {
			t.Errorf("amount.Size(%d) = %q, want %q", bytes, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1k", 10_527_205: "10.5M", 3e9: "3G"} {
		if got := amount.Count(n); got != want {
			t.Errorf("amount.Count(%v) = %q, want %q", n, got, want)
		}
	}
}

// document returns an input line whose text shares nothing with that of another number.
func document(n int) string {
	return fmt.Sprintf(`{"id":"doc %d","text":"%s"}`, n, plainText(n))
}

// plainText repeats n in every other word, so that it shares no run of words or letters with another text.
func plainText(n int) string {
	text := ""
	for i := range 6 {
		text += fmt.Sprintf("Sentence%[2]d %[1]d of them says%[2]d what only%[2]d says%[2]d and means%[2]d. ", i, n)
	}
	return text
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func documents(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(document(i) + "\n")
	}
	return b.String()
}
