package docmap

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// traced runs a child under strace, which makes the n-th of some system calls fail or kills the
// child there. hit reports whether that call was reached.
func traced(t *testing.T, what, path, calls, how string, n int) (out string, err error, hit bool) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace")
	}
	log := path + ".strace"
	cmd := exec.Command(strace, "-f", "-o", log, "-e", "trace="+calls,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", calls, how, n), os.Args[0], path)
	cmd.Env = childEnviron(what)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	trace, readErr := os.ReadFile(log)
	if readErr != nil || strings.Contains(b.String(), "ptrace") {
		t.Skipf("strace does not work here: %v, %s", readErr, &b)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	return b.String(), err, bytes.Contains(trace, []byte("INJECTED")) || bytes.Contains(trace, []byte("killed by SIGKILL"))
}

// oracleOfChild returns the child's table after that many documents.
func oracleOfChild(docs int) *oracle {
	o := newOracle()
	for i := range docs {
		o.add(childDoc(i))
	}
	o.seq = uint64(docs / childStep)
	if docs > 0 {
		o.state["docs"] = fmt.Append(nil, docs)
	}
	return o
}

// acknowledged returns the number of documents in the last checkpoint that the child reported.
func acknowledged(t *testing.T, out string) int {
	t.Helper()
	docs := 0
	for line := range strings.Lines(out) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "made "); ok {
			var err error
			if docs, err = strconv.Atoi(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return docs
}

// TestFailingCalls fails the n-th write, sync or truncation. The reopened table has the
// acknowledged checkpoint or the next one, and works on.
func TestFailingCalls(t *testing.T) {
	t.Parallel()
	for _, calls := range []string{"pwrite64", "fdatasync", "ftruncate", "fsync", "renameat"} {
		t.Run(calls, func(t *testing.T) {
			t.Parallel()
			failingCalls(t, calls)
		})
	}
}

func failingCalls(t *testing.T, calls string) {
	failed, inPlace, reopened := 0, 0, 0
	for n, step := 1, 1; ; n += step {
		if testing.Short() && n > 40 {
			break
		}
		path := filepath.Join(t.TempDir(), "table")
		out, err, hit := traced(t, "write", path, calls, "error=EIO", n)
		if err != nil {
			t.Fatalf("%s number %d: %v\n%s", calls, n, err, out)
		}
		if !hit {
			break
		}
		failed++
		if !strings.Contains(out, "failed:") {
			t.Fatalf("%s number %d failed, and nobody noticed:\n%s", calls, n, out)
		}
		if strings.Contains(out, "damaged") {
			t.Fatalf("%s number %d: a sound table is called damaged:\n%s", calls, n, out)
		}
		if strings.Contains(out, "tried again") {
			inPlace++
		}
		if strings.Contains(out, errUnsure.Error()) {
			reopened++
		}
		table := mustOpen(t, path, childOptions)
		want := oracleOfChild(childDocs)
		want.seq = table.Generation().Sequence // one more if a merge failed
		want.equal(t, table)
		step = 1 + failed/2
	}
	t.Logf("%s: %d calls failed, %d checkpoints were tried again, %d tables opened again", calls, failed, inPlace, reopened)
	if failed == 0 || calls == "fdatasync" && (inPlace == 0 || reopened == 0) {
		t.Errorf("%s: too few to mean anything", calls)
	}
}

// TestKilledInCalls kills a writer in the n-th write or sync. The table has the acknowledged
// checkpoint or the next one.
func TestKilledInCalls(t *testing.T) {
	t.Parallel()
	for _, calls := range []string{"pwrite64", "fdatasync"} {
		killed := 0
		for n, step := 1, 1; ; n += step {
			if testing.Short() && n > 40 {
				break
			}
			path := filepath.Join(t.TempDir(), "table")
			out, _, hit := traced(t, "write", path, calls, "signal=KILL", n)
			if !hit {
				break
			}
			killed++
			docs := acknowledged(t, out)
			table := mustOpen(t, path, childOptions)
			switch got := int(table.docs); got {
			case docs, docs + childStep:
				oracleOfChild(got).equal(t, table)
			default:
				t.Fatalf("killed in %s number %d with %d documents acknowledged; the table has %d", calls, n, docs, got)
			}
			step = 1 + killed/2
		}
		if killed == 0 {
			t.Errorf("never killed in %s", calls)
		}
	}
}

// TestKilledInCreation kills a creation anywhere. The table is missing or whole, and can be made.
func TestKilledInCreation(t *testing.T) {
	t.Parallel()
	for _, calls := range []string{"openat", "unlinkat", "pwrite64", "fdatasync", "ftruncate", "renameat", "fsync"} {
		for n := 1; ; n++ {
			path := filepath.Join(t.TempDir(), "table")
			if n%2 == 0 {
				// Leftovers of another killed process.
				if err := os.WriteFile(path+newSuffix, []byte("half a table"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, _, hit := traced(t, "create", path, calls, "signal=KILL", n)
			if !hit {
				break
			}
			ro := childOptions
			ro.ReadOnly = true
			table, err := Open(path, ro)
			if err == nil {
				newOracle().equal(t, table)
				err = table.Close()
			} else if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			if err != nil {
				t.Fatalf("killed in %s number %d: %v", calls, n, err)
			}
			newOracle().equal(t, mustOpen(t, path, childOptions))
		}
	}
}
