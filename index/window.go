package index

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/firstseen/firstseen/dedup"
)

// TagTime is the field that has the time of a document as the input tells it; see
// AppendTime.
const TagTime dedup.Tag = 1

// AppendTime appends the time of a document, in Unix seconds, to what is stored with it.
// A time before 1970 is 1970, and one after 2106 the last of that year. It is for
// [Policy.TellsTimes].
func AppendTime(added []byte, seconds int64) []byte {
	seconds = min(max(seconds, 0), math.MaxUint32)
	return dedup.AppendField(added, TagTime, binary.LittleEndian.AppendUint32(nil, uint32(seconds)))
}

// toldTime is what AppendTime has appended.
func toldTime(added []byte) (time uint32, ok bool) {
	r := dedup.Record{Added: added}
	b, ok, err := r.Field(TagTime)
	if err != nil || !ok || len(b) != 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

// TellsTime reports whether AppendTime has appended a time.
func TellsTime(added []byte) bool {
	_, told := toldTime(added)
	return told
}

// timing is what a session knows of times. All is nothing without a window, but arrived.
type timing struct {
	arrived bool   // the next document, as AdvanceClock was told
	isLate  bool   // it is older than the window
	time    uint32 // of it
	arrival uint32 // of documents that tell no times
	first   uint32 // document that the table may have
}

func (x *Index) windowed() bool { return x.Window() > 0 }

// Window is how many seconds documents count, 0 for ever.
func (x *Index) Window() uint32 {
	if x.table == nil {
		return 0
	}
	seconds, _, _ := x.table.Window()
	return seconds
}

// CheckWindow refuses a length of a window that Begin would refuse.
func (x *Index) CheckWindow(seconds uint32) error {
	switch {
	case seconds == 0:
		return nil
	case x.table == nil:
		return noTable(x.dir, "has no window")
	case !x.windowed() && x.table.Documents() > 0:
		return fmt.Errorf("index %s has documents of which nobody knows the time: begin another one for a window", x.dir)
	}
	return nil
}

// beginWindow has documents count for so many seconds, if positive.
func (x *Index) beginWindow(seconds uint32) error {
	if err := x.CheckWindow(seconds); err != nil || seconds == 0 {
		return err
	}
	return x.table.SetWindow(seconds)
}

// AdvanceClock tells what is stored with the next document, which Decide is then called with.
// It moves the window to its time, and takes the checkpoint that may be due then: so
// whoever stores in Flush how far he has come calls AdvanceClock before he counts the
// document. Others need not.
func (x *Index) AdvanceClock(added []byte) error {
	if err := x.ensureBegun(); err != nil || x.arrived {
		return err
	}
	err := x.advance(added)
	x.arrived = err == nil
	return err
}

// advance moves the window for a document with these fields, which is to be judged next.
func (x *Index) advance(added []byte) error {
	if x.isLate = false; !x.windowed() {
		return nil
	}
	x.lookAtClock()
	x.time = x.timeOf(added)
	x.isLate = x.table.Advance(x.time)
	if x.table.BeginsSlice() {
		return x.checkpoint(false)
	}
	return nil
}

// timeOf is the time of the next document, with these fields.
func (x *Index) timeOf(added []byte) uint32 {
	_, clock, _ := x.table.Window()
	if !x.policy.TellsTimes {
		return max(clock, x.arrival)
	}
	if time, told := toldTime(added); told {
		return time
	}
	return clock
}

// lookAtClock notes the system's time, where it is that of documents.
func (x *Index) lookAtClock() {
	if x.windowed() && !x.policy.TellsTimes {
		x.arrival = uint32(min(max(x.policy.Now().Unix(), 0), math.MaxUint32))
	}
}

// NoCheckpointDue says of a document with these fields that it can be decided by DecideAll with
// others, within Budget, as far as its time goes.
func (x *Index) NoCheckpointDue(added []byte) bool {
	if !x.windowed() {
		return true
	}
	time := x.timeOf(added)
	first, last := x.table.Steady()
	return first <= time && time <= last
}

// advanceAll is advance for documents which are NoCheckpointDue.
func (x *Index) advanceAll(b *dedup.Group) {
	if x.isLate = false; !x.windowed() {
		return
	}
	for i := range b.Len() {
		doc := b.Document(i)
		doc.Time = x.timeOf(doc.Added)
		x.table.Advance(doc.Time)
	}
}

// Late reports whether the document that was decided last is older than the window: if it
// is kept, it is not remembered.
func (x *Index) Late() bool { return x.isLate }

// WindowMemory is what a window of so many documents takes of memory: their times, and
// those of the slice that is dropped next.
func WindowMemory(docs uint64) uint64 { return 4*(docs+docs/8) + 16<<20 }

// renew makes the filter anew where it is full of what does not count any more, and says
// whether that has helped: where it may grow, for as long again at least.
func (x *Index) renew() (bool, error) {
	if !x.windowed() {
		return false, nil
	}
	err := x.rebuild(x.filter.Shape(), "")
	if x.policy.OnFull == OnFullGrow {
		return x.Load() <= 0.5, err
	}
	return !x.Full(), err
}

// thin follows a checkpoint, with which slices of a window may have gone.
func (x *Index) thin() error {
	first := x.table.First()
	if first == x.first || x.deduper == nil {
		return nil
	}
	x.first = first
	return x.deduper.Thin(x.before() + uint64(x.table.Documents()) + 1 - uint64(first))
}
