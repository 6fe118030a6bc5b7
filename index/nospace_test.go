//go:build linux || darwin

package index

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"

	"github.com/firstseen/firstseen/bloomstore"
)

// childLimit is the environment variable with the greatest file size that a child may write.
const childLimit = "DEDUP_TEST_LIMIT"

var largeIndex = Options{Key: KeyAsIs, Shape: bloomstore.ForMemory(1 << 20), MemtableKeys: 100}

func init() { children["limited"] = finishLimited }

func finishLimited(dir string) error {
	x, err := Open(context.Background(), dir, largeIndex)
	if err != nil {
		return err
	}
	if err := limitFiles(); err != nil {
		return err
	}
	return x.Finish(state(""))
}

// limitFiles makes writes past the size of childLimit fail.
func limitFiles() error {
	limit, err := strconv.ParseUint(os.Getenv(childLimit), 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &r); err != nil {
		return err
	}
	r.Cur = limit
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &r)
}

// TestFilterDoesNotFit stops writing the filter at several places. The old one must stay valid.
func TestFilterDoesNotFit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, largeIndex, 0, 50)
	x := opened(t, dir, largeIndex)
	see(t, x, 50, 100)
	indextest.Must(t, checkpoint(x, "unfinished"))
	indextest.Must(t, x.Close())
	const header, size = 4096, 4096 + 1<<20 + 8
	for _, limit := range []int{0, 1, header - 1, header, size / 2, size - 9, size - 1} {
		at := indextest.Copy(t, dir)
		cmd := childCommand(at, 0)
		cmd.Env = append(cmd.Env, childWork+"=limited", childLimit+"="+strconv.Itoa(limit))
		said := new(strings.Builder)
		cmd.Stderr = said
		if cmd.Run() == nil || !strings.Contains(said.String(), "too large") {
			t.Errorf("limit %d: %v: %s", limit, cmd.ProcessState, said)
		}
		before, err := os.ReadFile(filepath.Join(dir, FilterFile))
		indextest.Must(t, err)
		after, err := os.ReadFile(filepath.Join(at, FilterFile))
		indextest.Must(t, err)
		if string(before) != string(after) {
			t.Errorf("limit %d: there is another filter than before", limit)
		}
		knows(t, at, largeIndex, 0, 100, 100)
	}
}

func init() {
	children["backup limited"] = func(dir string) error {
		if err := limitFiles(); err != nil {
			return err
		}
		return Backup(context.Background(), dir, dir+".copy")
	}
}

// TestBackupDoesNotFit stops writing a copy at several places. Nothing of it must be left.
func TestBackupDoesNotFit(t *testing.T) {
	dir, dest := toCopy(t)
	info, err := os.Stat(filepath.Join(dir, TableFile))
	indextest.Must(t, err)
	for _, limit := range []int64{10, 40, 4096, info.Size() / 2} {
		cmd := childCommand(dir, 0)
		cmd.Env = append(cmd.Env, childWork+"=backup limited", childLimit+"="+strconv.FormatInt(limit, 10))
		if err := cmd.Run(); err == nil {
			t.Errorf("limit %d: no error", limit)
		}
		onlyIndex(t, dir, "no space")
	}
	indextest.Must(t, Backup(context.Background(), dir, dest))
	isCopy(t, dest)
}
