package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestTemporaryIndexLosesItsLockLast checks the order in which a run removes its temporary index. A
// folder without a lock is never swept, so a kill in between would leave it for good.
func TestTemporaryIndexLosesItsLockLast(t *testing.T) {
	task, x, remove := openTemporary(t)
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	indextest.Must(t, err)
	defer unix.Close(watch)
	_, err = unix.InotifyAddWatch(watch, task.openedIn, unix.IN_DELETE)
	indextest.Must(t, errors.Join(err, x.Close(), remove()))
	events := make([]byte, 4096)
	n, err := unix.Read(watch, events)
	indextest.Must(t, err)
	var removed []string
	for e := events[:n]; len(e) >= unix.SizeofInotifyEvent; {
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(e[12:]))
		if name := string(bytes.TrimRight(e[unix.SizeofInotifyEvent:end], "\x00")); name != "" {
			removed = append(removed, name)
		}
		e = e[end:]
	}
	if want := []string{index.TableFile, "lock"}; !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
	if _, err := os.Stat(task.openedIn); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}
