package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/firstseen/firstseen/internal/engine/apply"
)

type answer struct {
	id    string // of a document
	value []byte // JSON; nil for settings
}

// line returns the JSON form of a verdict; see docs/format.md, "A log".
func (a *answer) line(offset int64) []byte {
	if a.id == "" {
		return fmt.Appendf(nil, `{"offset":%d,%s`, offset, a.value[1:])
	}
	id, _ := json.Marshal(a.id) // it is a string
	return fmt.Appendf(nil, `{"offset":%d,"id":%s,%s`, offset, id, a.value[1:])
}

// maxAnswers and maxAnswerBytes bound the answers in memory, except those held.
const (
	maxAnswers     = 1 << 16
	maxAnswerBytes = 32 << 20
)

// answers holds the latest answers by offset. An offset without a record has a zero answer.
type answers struct {
	mu    sync.Mutex
	added sync.Cond
	first int64 // offset of list[0]
	list  []answer
	bytes int
	held  map[*int64]struct{}
	ended error
}

func newAnswers(next int64) *answers {
	a := &answers{first: next, held: map[*int64]struct{}{}}
	a.added.L = &a.mu
	return a
}

// add appends the answer of an offset beyond all others.
func (a *answers) add(offset int64, one answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.first+int64(len(a.list)) < offset {
		a.list = append(a.list, answer{})
	}
	a.list = append(a.list, one)
	a.bytes += len(one.id) + len(one.value)
	held := offset + 1 // the least held offset, or the next one
	for from := range a.held {
		held = min(held, *from)
	}
	for (len(a.list) > maxAnswers || a.bytes > maxAnswerBytes) && a.first < held {
		a.bytes -= len(a.list[0].id) + len(a.list[0].value)
		a.list[0] = answer{}
		a.list = a.list[1:]
		a.first++
	}
	a.added.Broadcast()
}

func (a *answers) next() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first + int64(len(a.list))
}

// hold keeps all answers added from now on, until release is called.
func (a *answers) hold() (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := a.first + int64(len(a.list))
	a.held[&next] = struct{}{}
	return func() {
		a.mu.Lock()
		delete(a.held, &next)
		a.mu.Unlock()
	}
}

// end makes all waiting calls return the error.
func (a *answers) end(err error) {
	a.mu.Lock()
	a.ended = err
	a.added.Broadcast()
	a.mu.Unlock()
}

// get waits for the answer of an offset until ctx ends.
func (a *answers) get(ctx context.Context, offset int64) (answer, error) {
	stop := context.AfterFunc(ctx, func() {
		a.mu.Lock()
		a.added.Broadcast()
		a.mu.Unlock()
	})
	defer stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		i := offset - a.first
		switch {
		case i < 0:
			return answer{}, apply.ErrGone
		case i < int64(len(a.list)):
			return a.list[i], nil
		case a.ended != nil:
			return answer{}, a.ended
		case ctx.Err() != nil:
			return answer{}, apply.ErrLater
		}
		a.added.Wait()
	}
}
