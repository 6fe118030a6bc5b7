package crash

import (
	"fmt"
	"time"
)

// A record holds the answers to a feeder, and checks that
//
//   - no text is kept a second time, unless a kill came so soon after the first answer that the
//     program need not have saved it,
//   - no text is lost: one of its documents was kept.
type record struct {
	texts   []history
	byTime  bool // the program saves by time
	byBytes bool // and by bytes

	session     int
	answers     int
	again       int // texts kept again that may have been forgotten
	differences []string
}

// history holds the answers about one text.
type history struct {
	kept      bool
	forgotten bool // the program may have forgotten it
	session   int  // of the last answer kept
	at        time.Time
	bytes     int // of the session's lines answered until then
	answered  int
}

func newRecord(byTime, byBytes bool) *record { return &record{byTime: byTime, byBytes: byBytes} }

func (r *record) begin() { r.session++ }

// answer records an answer. A repeated one, to the same document, is the old one.
func (r *record) answer(m message, kept, again bool, bytes int) {
	h := &r.texts[m.text]
	r.answers++
	h.answered++
	if !kept || again && h.kept {
		return
	}
	switch {
	case h.kept && !h.forgotten:
		r.differences = append(r.differences, fmt.Sprintf("text %d is kept a second time, as document %s; the first was in session %d, %v before; this is session %d",
			m.text, m.id, h.session, time.Since(h.at).Round(time.Millisecond), r.session))
	case h.kept:
		r.again++
	}
	*h = history{kept: true, session: r.session, at: time.Now(), bytes: bytes, answered: h.answered}
}

// killed records a kill and the number of bytes of lines answered by then. Texts kept by the
// session that need not have been saved may be forgotten. An orderly end saves all.
func (r *record) killed(at time.Time, bytes int) {
	for i := range r.texts {
		h := &r.texts[i]
		old := r.byTime && at.Sub(h.at) > saveEvery+saveSlack
		// A checkpoint comes with the line that brings the bytes since the last one to saveBytes,
		// before its answer.
		const longest = 4 << 10
		old = old || r.byBytes && bytes-h.bytes > saveBytes+longest
		if h.kept && h.session == r.session && !old {
			h.forgotten = true
		}
	}
}

// checkLost checks that every text was kept once.
func (r *record) checkLost() {
	for text, h := range r.texts {
		if !h.kept {
			r.differences = append(r.differences, fmt.Sprintf("text %d was never answered kept, and %d times as a copy: it is lost", text, h.answered))
		}
	}
}
