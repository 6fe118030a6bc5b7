package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the name that stands for standard input in a list of inputs, and
// for standard output as the name of an output.
const Stdin = "-"

// Input is one thing to read: a file, or standard input.
type Input struct {
	Path string // as it is opened; "-" is standard input
	Name string // as it appears in records and messages; "stdin" for "-"
	Size int64  // bytes as stored, -1 where it cannot be known (pipes)
}

// Expand turns command line arguments into inputs, in the order given.
//
// An argument is "-" (at most once), a file of any name, a directory, or, when
// no file has that very name, a glob in the syntax of [filepath.Match], whose
// matches are taken in lexical order. A directory stands for all files below
// it ending in .jsonl, .ndjson or .json, also with .gz or .zst after it, in
// lexical order; links to directories inside it are not followed. A file named
// twice is read twice.
//
// It is an error when an argument stands for nothing or names a file that
// cannot be opened: better now than hours into a run.
func Expand(args []string) ([]Input, error) {
	var inputs []Input
	for _, arg := range args {
		more, err := expand(arg)
		if err != nil {
			return nil, err
		}
		if arg == Stdin && slices.ContainsFunc(inputs, func(in Input) bool { return in.Path == Stdin }) {
			return nil, errors.New("standard input (-) is named twice")
		}
		inputs = append(inputs, more...)
	}
	return inputs, nil
}

func expand(arg string) ([]Input, error) {
	if arg == Stdin {
		return []Input{stdinInput()}, nil
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[") {
		return expandGlob(arg)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for input: %w", err)
	}
	if info.IsDir() {
		return expandDir(arg)
	}
	in, err := fileInput(arg, info)
	return []Input{in}, err
}

func expandGlob(pattern string) ([]Input, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("glob %q: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no file matches %q", pattern)
	}
	slices.Sort(names)
	var inputs []Input
	for _, name := range names {
		more, err := expand(name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, more...)
	}
	return inputs, nil
}

func expandDir(dir string) ([]Input, error) {
	var inputs []Input
	// The separator makes the walk enter a directory that is itself a link.
	root := strings.TrimRight(dir, string(filepath.Separator)) + string(filepath.Separator)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isCorpusName(d.Name()) {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return err
		}
		in, err := fileInput(path, info)
		inputs = append(inputs, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("no .jsonl, .ndjson or .json file (plain, .gz or .zst) in directory %s", dir)
	}
	return inputs, nil
}

func isCorpusName(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch filepath.Ext(name) {
	case ".jsonl", ".ndjson", ".json":
		return true
	}
	return false
}

func fileInput(path string, info fs.FileInfo) (Input, error) {
	in := Input{Path: path, Name: path, Size: -1}
	if !info.Mode().IsRegular() {
		return in, nil // opening a named pipe would wait for its writer
	}
	in.Size = info.Size()
	f, err := os.Open(path)
	if err != nil {
		return in, fmt.Errorf("input cannot be read: %w", err)
	}
	return in, f.Close()
}

func stdinInput() Input {
	in := Input{Path: Stdin, Name: "stdin", Size: -1}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode().IsRegular() {
		in.Size = info.Size()
	}
	return in
}

// TotalSize returns the bytes of all inputs as stored. Known is false when one
// of them is a pipe, which has no size.
func TotalSize(inputs []Input) (total int64, known bool) {
	known = true
	for _, in := range inputs {
		if in.Size < 0 {
			known = false
			continue
		}
		total += in.Size
	}
	return total, known
}
