package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// stopping is the program name that makes a test binary run firstseen and stop after a step. The
// environment names the step. See internal/base/step.
const (
	stopping  = "firstseen-stopping"
	stopStep  = "FIRSTSEEN_STOP_AFTER" // the first of this name, or a number counted from 1; 0: never
	stopHow   = "FIRSTSEEN_STOP_HOW"   // one of the next
	stepsFile = "FIRSTSEEN_STEPS"      // receives the names of the steps, one per line
)

const (
	stopByKill      = "kill"
	stopByError     = "error"
	stopByWaiting   = "wait"
	stopByInterrupt = "interrupt"
)

var errInjected = errors.New("injected by a test")

func stopAtStep() {
	at := os.Getenv(stopStep)
	var done []string
	step.Hook = func(name string) error {
		done = append(done, name)
		if err := os.WriteFile(os.Getenv(stepsFile), []byte(strings.Join(done, "\n")), 0o666); err != nil {
			return err
		}
		if name != at && strconv.Itoa(len(done)) != at {
			return nil
		}
		at = ""
		switch os.Getenv(stopHow) {
		case stopByError:
			return fmt.Errorf("after %s: %w", name, errInjected)
		case stopByWaiting:
			time.Sleep(time.Hour)
		case stopByInterrupt:
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Signal(os.Interrupt)
			}
			time.Sleep(100 * time.Millisecond) // until it is noticed
			return err
		}
		return filetest.KillSelf()
	}
	Main()
}
