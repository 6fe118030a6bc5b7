package output

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/claim"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNothingIsWrittenOver checks that a partial file with content is put aside under a free name.
func TestNothingIsWrittenOver(t *testing.T) {
	filetest.Chdir(t, "out.jsonl.partial", "out.jsonl.partial.1", "dir/real.jsonl", "dir/real.jsonl.partial")
	mustLink(t, os.Symlink, "dir/real.jsonl", "link.jsonl")
	mustLink(t, os.Symlink, "dir/none.jsonl", "dangling.jsonl")
	put(t, "dir/none.jsonl.partial", "behind a dangling link")
	for _, c := range []struct{ name, aside, held string }{
		{"out.jsonl", "out.jsonl.partial.2", "out.jsonl.partial"},
		{"link.jsonl", "dir/real.jsonl.partial.1", "dir/real.jsonl.partial"},
		{"dangling.jsonl", "dir/none.jsonl.partial.1", "behind a dangling link"},
	} {
		w := mustCreate(t, c.name)
		if got := filepath.ToSlash(w.Aside()); got != c.aside {
			t.Errorf("%s: put aside as %q, want %q", c.name, got, c.aside)
		}
		writeLines(t, w, [][]byte{[]byte("new")})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, c.aside); string(got) != c.held {
			t.Errorf("%s holds %q, want %q", c.aside, got, c.held)
		}
		if got := readFile(t, c.name); string(got) != "new\n" {
			t.Errorf("%s holds %q", c.name, got)
		}
	}
	if got := readFile(t, "out.jsonl.partial.1"); string(got) != "out.jsonl.partial.1" {
		t.Errorf("what was put aside before became %q", got)
	}
	if info, err := os.Lstat("dangling.jsonl"); err != nil || info.Mode().IsRegular() {
		t.Errorf("the dangling link was replaced: %v, %v", info, err)
	}
}

// TestEmptyPartialIsTaken checks that an empty partial file is not put aside, and that an aborted
// output without a line leaves no file.
func TestEmptyPartialIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	put(t, path+input.PartialSuffix, "")
	w := mustCreate(t, path)
	if w.Aside() != "" {
		t.Errorf("an empty file was put aside as %s", w.Aside())
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if !absent(path+input.PartialSuffix) || !absent(path+input.PartialSuffix+".1") {
		t.Error("an empty partial file is left")
	}
	put(t, path+input.PartialSuffix, "text")
	if err := os.Symlink(path+input.PartialSuffix, path+"2"+input.PartialSuffix); err != nil {
		t.Skip(err)
	}
	if _, err := Create(path + "2"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a link in the place of the partial file: %v", err)
	}
}

// TestSecondWriter refuses a second writer until the first has finished or given up.
func TestSecondWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	w := mustCreate(t, path)
	writeLines(t, w, [][]byte{[]byte("first")})
	at, err := w.Sync()
	if err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		_, created := Create(path)
		_, continued := OpenAt(path, at)
		_, cut := CutPartial(path, at)
		for call, err := range map[string]error{"Create": created, "OpenAt": continued, "CutPartial": cut} {
			if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s %s: %v", call, when, err)
			}
		}
	}
	refused("while it is written")
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if w, err = OpenAt(path, at); err != nil {
		t.Fatal(err)
	}
	refused("while it is continued")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, path); string(got) != "first\n" {
		t.Errorf("it holds %q", got)
	}
	if err := mustCreate(t, path).Abort(); err != nil {
		t.Fatal(err)
	}
}

// TestPartialReplaced checks that a file put in place of the partial file is not published.
func TestPartialReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	w := mustCreate(t, path)
	writeLines(t, w, [][]byte{[]byte("mine")})
	if err := os.Rename(path+input.PartialSuffix, path+".moved"); err != nil {
		t.Skip(err)
	}
	put(t, path+input.PartialSuffix, "another's")
	if err := w.Close(); !errors.Is(err, claim.ErrMoved) || !strings.Contains(err.Error(), path) {
		t.Errorf("Close: %v", err)
	}
	if !absent(path) || string(readFile(t, path+input.PartialSuffix)) != "another's" {
		t.Error("another's file got the name")
	}
	if got := readFile(t, path+".moved"); string(got) != "mine\n" {
		t.Errorf("what was written holds %q", got)
	}
}

// TestCutPartial cuts the marked file and no other.
func TestCutPartial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	w := mustCreate(t, path)
	marks := writeLines(t, w, [][]byte{[]byte("first"), bytes.Repeat([]byte("x"), 3*tailSize), []byte("last")}, 1, 2)
	if err := errors.Join(errOf(w.Sync()), w.Abort()); err != nil {
		t.Fatal(err)
	}
	whole := readFile(t, path+input.PartialSuffix)
	for _, at := range []Mark{{Size: 0}, {marks[1].Size, marks[0].Tail}, {marks[1].Size + 1, marks[1].Tail}, {1 << 40, 0}} {
		if done, err := CutPartial(path, at); done || err != nil {
			t.Errorf("%+v: %v, %v", at, done, err)
		}
	}
	if !bytes.Equal(readFile(t, path+input.PartialSuffix), whole) {
		t.Fatal("a file that was not marked was changed")
	}
	for i := range marks {
		at := marks[len(marks)-1-i]
		if done, err := CutPartial(path, at); !done || err != nil {
			t.Errorf("%+v: %v, %v", at, done, err)
		}
		if got := readFile(t, path+input.PartialSuffix); !bytes.Equal(got, whole[:at.Size]) {
			t.Errorf("%+v left %d bytes", at, len(got))
		}
	}
	if done, err := CutPartial(path+"none", marks[0]); done || err != nil {
		t.Errorf("no file: %v, %v", done, err)
	}
}

func errOf(_ Mark, err error) error { return err }

// TestPublished recognizes a whole output by the mark from Seal, and by nothing else.
func TestPublished(t *testing.T) {
	for _, name := range outputNames {
		for _, lines := range [][][]byte{nil, {[]byte("line")}, someLines()} {
			path := filepath.Join(t.TempDir(), name)
			w := mustCreate(t, path)
			writeLines(t, w, lines)
			at, err := w.Seal()
			if err != nil {
				t.Fatal(err)
			}
			if done, err := Published(path, at); done || err != nil {
				t.Errorf("%s before Close: %v, %v", name, done, err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if done, err := Published(path, at); !done || err != nil {
				t.Errorf("%s after Close: %v, %v", name, done, err)
			}
			stored := readFile(t, path)
			if len(stored) == 0 {
				continue
			}
			changed := bytes.Clone(stored)
			changed[len(changed)-1]++
			for _, other := range [][]byte{changed, stored[:len(stored)-1], append(bytes.Clone(stored), 'x')} {
				put(t, path, string(other))
				if done, err := Published(path, at); done || err != nil {
					t.Errorf("%s with another file: %v, %v", name, done, err)
				}
			}
		}
	}
}
