// Package steptest has helpers shared by the tests that stop a process between two steps.
package steptest

import "os"

// KillSelf ends the process as a power cut would: nothing deferred runs. It returns only if it
// could not.
func KillSelf() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {} // until the signal arrives
}
