package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// terminalOfColumns returns the two ends of a terminal, a new one of that width.
func terminalOfColumns(t *testing.T, columns int) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	indextest.Must(t, err)
	t.Cleanup(func() { user.Close() })
	fd := int(user.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	indextest.Must(t, err)
	indextest.Must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	indextest.Must(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	indextest.Must(t, err)
	t.Cleanup(func() { program.Close() })
	return user, program
}

// TestWidthOfTerminals checks that compare takes the width of any terminal, and refuses such a
// --width.
func TestWidthOfTerminals(t *testing.T) {
	for columns, want := range map[int]int{0: 120, 1: 20, 19: 20, 20: 20, 80: 80, 1000: 1000, 2000: 1000} {
		_, out := terminalOfColumns(t, columns)
		style, err := (&explaining{}).style(out)
		if err != nil || style.Width != want {
			t.Errorf("a terminal of %d columns: width %d, %v", columns, style.Width, err)
		}
		_, err = (&explaining{width: columns}).style(out)
		if refused := err != nil && strings.Contains(err.Error(), fmt.Sprintf("--width %d:", columns)); refused != (columns != 0 && columns != want) {
			t.Errorf("--width %d: %v", columns, err)
		}
	}
}
