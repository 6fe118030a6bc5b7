package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptJoined concatenates all files of a folder, in the order of their names.
func scriptJoined(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 2, "joined folder file")
	files, err := treeFiles(ts.MkAbs(args[0]))
	ts.Check(err)
	var all bytes.Buffer
	for _, f := range files {
		all.Write(f.data)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), all.Bytes(), 0o666))
}

type treeFile struct {
	name string
	data []byte
}

// treeFiles returns the files below a folder, sorted by name.
func treeFiles(dir string) (files []treeFile, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, relErr := filepath.Rel(dir, path)
		files = append(files, treeFile{name, data})
		if err == nil {
			err = relErr
		}
		return err
	})
	return files, err
}
