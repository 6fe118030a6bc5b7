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
// environment gives the number of the step. See internal/base/step.
const (
	stopping   = "firstseen-stopping"
	stopNumber = "FIRSTSEEN_STOP_AFTER" // counted from 1; 0: never
	stopHow    = "FIRSTSEEN_STOP_HOW"   // stopByKill, stopByError or stopByWaiting
	stepsFile  = "FIRSTSEEN_STEPS"      // receives the names of the steps, one per line
)

const (
	stopByKill    = "kill"
	stopByError   = "error"
	stopByWaiting = "wait"
)

var errInjected = errors.New("injected by a test")

func stopAtStep() {
	at, err := strconv.Atoi(os.Getenv(stopNumber))
	if err != nil {
		panic(err)
	}
	var done []string
	step.Hook = func(name string) error {
		done = append(done, name)
		if err := os.WriteFile(os.Getenv(stepsFile), []byte(strings.Join(done, "\n")), 0o666); err != nil {
			return err
		}
		if len(done) != at {
			return nil
		}
		switch os.Getenv(stopHow) {
		case stopByError:
			return fmt.Errorf("after %s: %w", name, errInjected)
		case stopByWaiting:
			time.Sleep(time.Hour)
		}
		return filetest.KillSelf()
	}
	Main()
}
