package pipeline

import (
	"errors"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// Window is the time for which documents count; see docs/design.md, rule 12. Zero means for ever.
type Window struct {
	Seconds uint32 // 0 for an index without a window
	// Told means that documents carry their times; a document without one gets the latest.
	// Otherwise the time is that of arrival: now for a pipe, the start of the run for files.
	Told bool
}

// errWindow is returned because document times would be unknown without a window.
var errWindow = errors.New("the index has a window of time, and this run has none: give --format auto:time=FIELD if its documents have times")

// Check refuses an index without a window if w has one, and a windowed index if w has none.
func (w Window) Check(x *index.Index) error {
	if w.Seconds == 0 && x.Window() > 0 {
		return errWindow
	}
	return x.CheckWindow(w.Seconds)
}

// storedTime is the size in bytes of a document's stored time.
const storedTime = 6

// whenBegun returns the start of a run with a window, maybe in another process, in Unix seconds.
func (j *Job) whenBegun() int64 {
	if j.Resume != nil && j.Resume.Began != 0 {
		return j.Resume.Began
	}
	return j.now().Unix()
}

func (j *Job) now() time.Time {
	if j.Now == nil {
		return time.Now()
	}
	return j.Now()
}

// arrival returns the clock that stamps documents. A run over files with a window of arrival times
// uses one time throughout, so that a continued run uses it again.
func (j *Job) arrival() func() time.Time {
	if j.Window.Seconds == 0 || j.Window.Told || j.Pipe {
		return j.Now
	}
	return func() time.Time { return time.Unix(j.began, 0) }
}

// latest returns the time after which a document's own time is not believed. Clocks differ, so that
// may be after its arrival. One document moves the window by the difference, which is therefore at
// most an eighth of the window. It is safe for concurrent use.
func (j *Job) latest() time.Time {
	arrival := time.Unix(j.began, 0)
	if j.Pipe {
		arrival = j.now()
	}
	return arrival.Add(min(24*time.Hour, time.Duration(j.Window.Seconds/8)*time.Second))
}

// appendTime appends the document's own time to its stored data, unless it is after latest.
func (j *Job) appendTime(added []byte, doc *corpus.Document) []byte {
	if doc.Time.IsZero() || doc.Time.After(j.latest()) {
		return added
	}
	return fields.AppendTime(added, doc.Time.Unix())
}
