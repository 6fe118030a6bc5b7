package follow

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestAnswersAreBounded checks that old answers leave, held ones stay, and offset gaps have none.
func TestAnswersAreBounded(t *testing.T) {
	a := newAnswers(10)
	a.add(12, answer{id: "first", value: []byte("{}")})
	release := a.hold()
	for i := range int64(2 * maxAnswers) {
		a.add(13+i, answer{value: []byte("{}")})
	}
	if a.first != 13 {
		t.Errorf("the first is %d, though 13 is held", a.first)
	}
	got, err := a.get(t.Context(), 13)
	if err != nil || string(got.value) != "{}" {
		t.Errorf("a held one: %v, error %v", got, err)
	}
	release()
	next := 13 + int64(2*maxAnswers)
	a.add(next, answer{value: make([]byte, maxAnswerBytes)})
	if len(a.list) != 1 || a.first != next || a.bytes > maxAnswerBytes {
		t.Errorf("%d answers from %d, %d bytes", len(a.list), a.first, a.bytes)
	}
	if _, err := a.get(t.Context(), 12); !errors.Is(err, apply.ErrGone) {
		t.Errorf("one that left: error %v", err)
	}
}

// TestAnswersAreAwaited checks that a reader waits until its patience or the follower ends.
func TestAnswersAreAwaited(t *testing.T) {
	a := newAnswers(0)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := a.get(ctx, 0); !errors.Is(err, apply.ErrLater) {
		t.Errorf("out of patience: error %v", err)
	}
	got := make(chan error)
	for i := range int64(3) {
		go func() {
			one, err := a.get(t.Context(), i)
			if err == nil && one.id != fmt.Sprint(i) {
				err = fmt.Errorf("offset %d is %s", i, one.id)
			}
			got <- err
		}()
	}
	a.add(0, answer{id: "0"})
	a.add(1, answer{id: "1"})
	indextest.Must(t, <-got)
	indextest.Must(t, <-got)
	broken := errors.New("broken")
	a.end(broken)
	if err := <-got; !errors.Is(err, broken) {
		t.Errorf("the follower has ended: error %v", err)
	}
}
