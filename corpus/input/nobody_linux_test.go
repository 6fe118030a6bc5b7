package input

import (
	"runtime"
	"syscall"
)

// asNobody calls f on a thread that opens files as a user without rights, even under root.
func asNobody(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		_ = syscall.Setfsuid(65534)
		f()
	}()
	<-done
}
