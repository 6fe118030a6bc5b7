package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

var update = flag.Bool("update", false, "write the golden files inside the scripts, and docs/reference/commands.md, anew")

func TestMain(m *testing.M) {
	indextest.ShortInMemory()
	testscript.Main(m, map[string]func(){stopping: stopAtStep, "firstseen": func() {
		if n, err := strconv.Atoi(os.Getenv(processorsVariable)); err == nil {
			processors = func() int { return n }
		}
		Main()
	}})
}

// processorsVariable sets the number of processors that the program sees in a test.
const processorsVariable = "FIRSTSEEN_TEST_PROCESSORS"

const guide = "../../testdata/bilingual/guide.jsonl"

// TestScripts runs the scripts of testdata/script.
func TestScripts(t *testing.T) {
	guide, err := filepath.Abs(guide)
	indextest.Must(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commandsOfScripts(),
		Setup: func(e *testscript.Env) error {
			e.Setenv("GUIDE", guide)
			e.Setenv("PARQUET", filepath.Join(filepath.Dir(guide), "../../corpus/parquet/testdata"))
			e.Setenv("RECIPES", filepath.Join(filepath.Dir(guide), "../../bench/recipes"))
			e.Setenv("SOURCE_DATE_EPOCH", "1700000000")
			e.Setenv("GOGC", "400") // the collector takes a quarter of a run over a few lines
			return os.Mkdir(filepath.Join(e.WorkDir, "tmp"), 0o777)
		},
	})
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
	indextest.Must(t, os.WriteFile(path, []byte(text), 0o666))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	indextest.Must(t, err)
	return string(data)
}

// guideLines returns lines of the bilingual guide.
func guideLines(t *testing.T, from, to int) string {
	t.Helper()
	return strings.Join(strings.SplitAfter(readFile(t, guide), "\n")[from:to], "")
}

// runHere runs a command in this process, and returns what it prints.
func runHere(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, nil, &stdout, &stderr); code != exitDone {
		t.Fatalf("%v: exit code %d, %s", args, code, &stderr)
	}
	return stdout.String()
}

func documents(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(document(i) + "\n")
	}
	return b.String()
}

// takesSeconds leaves a test to the full run, the last step of .ci/run.
func takesSeconds(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}
