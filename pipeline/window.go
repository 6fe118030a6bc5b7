package pipeline

import (
	"errors"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/index"
)

// Window says how long documents count; see docs/design.md, rule 17. The zero value is
// for ever.
type Window struct {
	Seconds uint32 // 0 for an index without a window
	// Told: documents tell their times, and one that does not has that of the latest.
	// Else the time is that of arrival: for a pipe now, for files when the run began.
	Told bool
}

// errWindow: without it nobody would know what the times of the documents are.
var errWindow = errors.New("the index has a window of time: give --window, and --time-field if its documents tell their times")

// Check refuses an index whose documents count for ever where there is a window, and one
// that has a window where there is none.
func (w Window) Check(x *index.Index) error {
	if w.Seconds == 0 && x.Window() > 0 {
		return errWindow
	}
	return x.CheckWindow(w.Seconds)
}

// mostAhead is how long after its arrival a document may be made: clocks differ. One document
// moves the edge by that much, so it is an eighth of the window at most.
func (w Window) mostAhead() time.Duration {
	return min(24*time.Hour, time.Duration(w.Seconds/8)*time.Second)
}

// storedTime is how many bytes the time of a document takes of what is stored with it.
const storedTime = 6

// whenBegun is when a run with a window began, be it in another process: Unix seconds.
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

// arrival is what stamps documents: the same for all of a run over files that has a
// window of times of arrival, so that it is the same again where the run is continued.
func (j *Job) arrival() func() time.Time {
	if j.Window.Seconds == 0 || j.Window.Told || j.Pipe {
		return j.Now
	}
	return func() time.Time { return time.Unix(j.began, 0) }
}

// latest is the time after which a document that tells it is not believed. Several goroutines
// may ask.
func (j *Job) latest() time.Time {
	arrival := time.Unix(j.began, 0)
	if j.Pipe {
		arrival = j.now()
	}
	return arrival.Add(j.Window.mostAhead())
}

// appendTime appends the time that a document tells to what is stored with it. A time
// that is yet to come is no time.
func appendTime(added []byte, doc *corpus.Document, latest func() time.Time) []byte {
	if doc.Time.IsZero() || doc.Time.After(latest()) {
		return added
	}
	return index.AppendTime(added, doc.Time.Unix())
}
