//go:build unix

package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
)

// TestTreeLinks checks that no link, old or new, leads an output out of its folder. A link that
// stays inside is followed.
func TestTreeLinks(t *testing.T) {
	for _, c := range []struct {
		name   string
		before map[string]string // links and their targets
		during map[string]string // made once a checkpoint covers the first record
		later  map[string]string // made after the kill, before the run resumes
		want   string            // part of the error, "" for none
	}{
		{name: "none"},
		{name: "inside", before: map[string]string{"sub": "other"}},
		{name: "subfolder", before: map[string]string{"sub": "../outside"}, want: "a link in its path leads out of"},
		{name: "absolute", before: map[string]string{"sub": "ABSOLUTE/outside"}, want: "a link in its path leads out of"},
		{name: "nowhere", before: map[string]string{"sub": "../nowhere"}, want: "a link in its path leads out of"},
		{name: "lock", before: map[string]string{treeName + input.PartialSuffix: "../outside/file"}, want: "not a regular file"},
		{name: "meanwhile", during: map[string]string{"sub": "../outside"}, want: "a link in its path leads out of"},
		{name: "output", later: map[string]string{"sub/a" + input.PartialSuffix: "../../outside/file"}, want: "escapes"},
		{name: "lock later", later: map[string]string{treeName + input.PartialSuffix: "../outside/file"}, want: "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "out")
			writeTree(t, top, map[string]string{"outside/file": "one\nmine", "out/other/x": ""})
			link := func(links map[string]string) {
				for name, to := range links {
					name = filepath.Join(dir, name)
					_ = os.Rename(name, filepath.Join(top, "moved"))
					if err := os.Symlink(strings.ReplaceAll(to, "ABSOLUTE", top), name); err != nil {
						t.Fatal(err)
					}
				}
			}
			link(c.before)
			plan := &TreePlan{Dir: dir, Early: true, Files: []TreeOutput{{Name: filepath.Join("sub", "a")}, {Name: "b"}}}
			err := writeKilled(plan, func() { link(c.during) }, func() { link(c.later) })
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			outside, _ := filepath.Glob(filepath.Join(top, "outside", "*"))
			text, err := os.ReadFile(filepath.Join(top, "outside", "file"))
			if len(outside) != 1 || string(text) != "one\nmine" || err != nil {
				t.Errorf("outside are %q; the file there holds %q, %v", outside, text, err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "sub", "a")); c.want == "" && (string(text) != "one\ntwo\n" || err != nil) {
				t.Errorf("the output is %q, %v", text, err)
			}
		})
	}
}

// writeKilled writes a tree, is killed after the first record, and resumes.
func writeKilled(plan *TreePlan, during, later func()) error {
	tree, err := CreateTree(plan)
	if err != nil {
		return err
	}
	w := &treeWriter{m: &treeModel{plan: plan, records: [][]string{{"one\n", "two\n"}, {"three\n"}}}, tree: tree}
	if _, err := w.step(); err != nil {
		return err
	}
	if err := w.save(); err != nil {
		return err
	}
	during()
	w.kill()
	later()
	if err := w.again(); err != nil {
		return err
	}
	for {
		over, err := w.step()
		if err != nil || over {
			return errors.Join(err, w.tree.End(), w.tree.Close())
		}
	}
}
