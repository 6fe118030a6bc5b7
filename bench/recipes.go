package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// recipe is a way to make marks: a script of bench/recipes and the Python module it needs.
type recipe struct{ name, script, module string }

var recipeList = []recipe{
	{"GNU sort", "sort.sh", ""},
	{"DuckDB", "with_duckdb.py", "duckdb"},
	{"ClickHouse (chdb)", "with_clickhouse.py", "chdb"},
	{"Spark, local", "with_spark.py", "pyspark"},
	{"Spark, master and two workers", "spark_cluster.sh", "pyspark"},
}

// recipes runs the recipes of docs/howto.md over inputs, one shard each. Concurrent processes make
// the features, the last shard first. Every report must be that of one firstseen dedup, except for
// the samples, which need the texts. With -twice each engine also gets a tenth of the rows twice,
// with the same report.
func recipes(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("recipes", flag.ContinueOnError)
	program := fs.String("firstseen", "firstseen", "the program")
	python := fs.String("python", "python3", "the interpreter that has duckdb, chdb and pyspark; those that are missing are left out")
	dir := fs.String("dir", "", "a folder for shards, rows and reports")
	only := fs.String("only", "", "run the recipes whose script has this in its name")
	twice := fs.Bool("twice", false, "also give each engine a tenth of the rows twice; needs duckdb")
	scripts := fs.String("scripts", "bench/recipes", "the folder of the recipes")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *dir == "" || fs.NArg() == 0 {
		return errors.New("usage: recipes -dir DIR INPUT, several of them")
	}
	path, err := exec.LookPath(*program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return err
	}
	os.Setenv("PATH", filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	os.Setenv("PYTHON", *python)
	os.Setenv("TMPDIR", *dir)
	r := &recipeRun{ctx: ctx, out: out, dir: *dir, inputs: fs.Args(), python: *python, scripts: *scripts, twice: *twice}
	if err := errors.Join(os.MkdirAll(*dir, 0o777), r.prepare()); err != nil {
		return err
	}
	for _, c := range recipeList {
		if strings.Contains(c.script, *only) {
			if err := r.try(c); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

type recipeRun struct {
	ctx             context.Context
	out             io.Writer
	dir             string
	inputs          []string
	python, scripts string
	twice           bool
}

func (r *recipeRun) path(name string) string { return filepath.Join(r.dir, name) }

// run runs a command, and prints its time, CPU time and peak memory.
func (r *recipeRun) run(name string, args ...string) error {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, new(bytes.Buffer)
	begun := time.Now()
	err := cmd.Run()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, cmd.Stderr)
	}
	user := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Fprintf(r.out, "  %-12s %7.1f s, %7.1f s of CPU, %5d MB\n", filepath.Base(name)+" "+strings.TrimPrefix(filepath.Base(args[0]), "-"), time.Since(begun).Seconds(), user.Seconds(), peakMemory(cmd.ProcessState)>>20)
	return nil
}

// prepare writes the report of one run, and the features of each input.
func (r *recipeRun) prepare() error {
	if _, err := os.Stat(r.path("one.jsonl")); err != nil {
		if err := r.run("firstseen", append([]string{"dedup", "-q", "-r", r.path("one.jsonl")}, r.inputs...)...); err != nil {
			return err
		}
	}
	errs := make(chan error)
	for i := len(r.inputs) - 1; i >= 0; i-- {
		go func() {
			errs <- r.run("firstseen", "features", "-j", "1", "--out", r.path("features"), "--shard", fmt.Sprintf("%d/%d", i+1, len(r.inputs)), r.inputs[i])
		}()
		time.Sleep(100 * time.Millisecond) // the last shard begins first
	}
	var err error
	for range r.inputs {
		err = errors.Join(err, <-errs)
	}
	return err
}

func (r *recipeRun) try(c recipe) error {
	command := []string{filepath.Join(r.scripts, c.script)}
	if strings.HasSuffix(c.script, ".py") {
		command = append([]string{r.python}, command...)
	}
	if c.module != "" && exec.CommandContext(r.ctx, r.python, "-c", "import "+c.module).Run() != nil {
		fmt.Fprintf(r.out, "%s: left out, %s has no %s\n", c.name, r.python, c.module)
		return nil
	}
	fmt.Fprintln(r.out, c.name)
	marks, report := r.path("marks"), r.path("report.jsonl")
	if err := r.run(command[0], append(command[1:], r.path("features"), marks)...); err != nil {
		return err
	}
	if err := r.decide(marks, report); err != nil {
		return err
	}
	if r.twice {
		if err := r.again(command, marks); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(marks), removeAll(marks+".*"))
}

// decide decides by marks, and compares the report with that of one run.
func (r *recipeRun) decide(marks, report string) error {
	if err := r.run("firstseen", "dedup", "--features", r.path("features"), "--marks", marks, "-r", report); err != nil {
		return err
	}
	lines, err := sameReports(r.path("one.jsonl"), report)
	if err == nil {
		fmt.Fprintf(r.out, "  %d lines, each that of one run\n", lines)
	}
	return err
}

// again runs a recipe over rows with a tenth of them twice.
func (r *recipeRun) again(command []string, marks string) error {
	rows, err := r.doubled(filepath.Ext(command[0]) == ".sh" && !strings.Contains(command[0], "spark"))
	if err != nil {
		return err
	}
	os.Setenv("ROWS", rows)
	defer os.Unsetenv("ROWS")
	other := r.path("marks-twice")
	if err := r.run(command[0], append(command[1:], r.path("features"), other)...); err != nil {
		return err
	}
	if err := r.decide(other, r.path("report-twice.jsonl")); err != nil {
		return fmt.Errorf("with a tenth of the rows twice: %w", err)
	}
	fmt.Fprintln(r.out, "  with a tenth of the rows twice")
	return errors.Join(os.Remove(other), removeAll(other+".*"))
}

// doubled writes a file of rows, as lines or as Parquet, with a tenth of them twice.
func (r *recipeRun) doubled(lines bool) (string, error) {
	name := r.path("rows-twice.parquet")
	command := []string{r.python, "-c", `
import duckdb, sys
rows = sys.argv[1] + ".once"
duckdb.sql(f"COPY (SELECT * FROM read_parquet('{rows}') UNION ALL SELECT * FROM read_parquet('{rows}') WHERE hash(v) % 10 = 0) TO '{sys.argv[1]}' (FORMAT parquet)")`, name}
	if lines {
		name = r.path("rows-twice.txt")
		command = []string{"awk", "-v", "to=" + name, `{print > to} NR % 10 == 0 {print > to}`, name + ".once"}
	}
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	once := name + ".once"
	to := once
	if !lines {
		to = r.path("rows-once.parquet")
	}
	err := r.run("firstseen", "rows", r.path("features"), "--out", to)
	if err == nil && to != once {
		err = os.Rename(to, once)
	}
	if err == nil {
		err = r.run(command[0], command[1:]...)
	}
	return name, errors.Join(err, os.Remove(once))
}

func removeAll(pattern string) error {
	names, err := filepath.Glob(pattern)
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// sameReports compares two reports line by line, apart from fields that need texts.
func sameReports(one, other string) (lines int, err error) {
	a, err := os.Open(one)
	if err != nil {
		return 0, err
	}
	defer a.Close() // only read
	b, err := os.Open(other)
	if err != nil {
		return 0, err
	}
	defer b.Close() // only read
	x, y := bufio.NewScanner(a), bufio.NewScanner(b)
	x.Buffer(nil, 1<<24)
	y.Buffer(nil, 1<<24)
	for x.Scan() {
		if !y.Scan() {
			return lines, errors.New("a line is missing")
		}
		if lines++; !bytes.Equal(withoutTexts(x.Bytes()), withoutTexts(y.Bytes())) {
			return lines, fmt.Errorf("line %d differs: %s and %s", lines, x.Bytes(), y.Bytes())
		}
	}
	if !y.Scan() || !bytes.HasPrefix(y.Bytes(), []byte(`{"end":`)) || y.Scan() {
		return lines, errors.New("the last line does not have the counts")
	}
	return lines, errors.Join(x.Err(), y.Err())
}

// withoutTexts removes the fields of a report's line that need the texts, and the shard.
func withoutTexts(line []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return line
	}
	delete(fields, "sample")
	delete(fields, "new")
	delete(fields, "shard")
	text, err := json.Marshal(fields)
	if err != nil {
		return line
	}
	return text
}
