package index

import (
	"fmt"
	"math"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/base/fields"
)

func (x *Index) windowed() bool { return x.Window() > 0 }

// Window returns the number of seconds for which documents count; 0 means forever.
func (x *Index) Window() uint32 {
	if x.table == nil {
		return 0
	}
	seconds, _, _ := x.table.Window()
	return seconds
}

// CheckWindow returns the error of Begin for a window.
func (x *Index) CheckWindow(seconds uint32) error {
	switch {
	case seconds == 0:
		return nil
	case x.table == nil:
		return noTable(x.dir, "has no window")
	case !x.windowed() && x.table.Documents() > 0:
		return fmt.Errorf("index %s has documents without times: begin another index for a window", x.dir)
	}
	return nil
}

// advanceClock moves the window to the time of the next document, which it sets, and takes a
// checkpoint if one is then due.
func (x *Index) advanceClock(doc *dedup.Document) error {
	if err := x.ensureBegun(); err != nil {
		return err
	}
	if x.late = false; !x.windowed() {
		return nil
	}
	x.lookAtClock()
	doc.Time = x.timeOf(doc.Added)
	if x.late = x.table.Advance(doc.Time); x.table.BeginsSlice() {
		return x.checkpoint(false)
	}
	return nil
}

// timeOf returns the time of the next document, given its fields.
func (x *Index) timeOf(added []byte) uint32 {
	_, clock, _ := x.table.Window()
	if !x.policy.TellsTimes {
		return max(clock, x.arrival)
	}
	if time, told := fields.Time(added); told {
		return time
	}
	return clock
}

// lookAtClock reads Policy.Now, unless documents have their own times.
func (x *Index) lookAtClock() {
	if x.windowed() && !x.policy.TellsTimes {
		x.arrival = uint32(min(max(x.policy.Now().Unix(), 0), math.MaxUint32))
	}
}

// NoCheckpointDue reports whether a document with these fields causes no checkpoint by its time.
// DecideAll takes only such documents.
func (x *Index) NoCheckpointDue(added []byte) bool {
	if !x.windowed() {
		return true
	}
	time := x.timeOf(added)
	first, last := x.table.Steady()
	return first <= time && time <= last
}

// advanceAll is advanceClock for a group of documents that cause no checkpoint.
func (x *Index) advanceAll(b *dedup.Group) {
	if x.late = false; !x.windowed() {
		return
	}
	for i := range b.Len() {
		doc := b.Document(i)
		doc.Time = x.timeOf(doc.Added)
		x.table.Advance(doc.Time)
	}
}

// Late reports whether the last document is older than the window, and so not remembered.
func (x *Index) Late() bool { return x.late }

// renew rebuilds a full filter without expired documents, and reports whether that was enough. A
// filter that may grow must be at most half full.
func (x *Index) renew() (bool, error) {
	if !x.windowed() {
		return false, nil
	}
	err := x.rebuild(x.filter.Shape(), false, "")
	if x.policy.OnFull == OnFullGrow {
		return x.Load() <= 0.5, err
	}
	return !x.Full(), err
}
