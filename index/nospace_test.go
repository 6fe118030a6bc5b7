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
	limit, err := strconv.ParseUint(os.Getenv(childLimit), 10, 64)
	if err != nil {
		return err
	}
	x, err := Open(context.Background(), dir, largeIndex)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &r); err != nil {
		return err
	}
	r.Cur = limit
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &r); err != nil {
		return err
	}
	return x.Finish(state(""))
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
